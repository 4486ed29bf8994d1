#ifndef ONNXL_ALIGN_DESTINATION_H
#define ONNXL_ALIGN_DESTINATION_H

#include "cli/output-set.h"
#include "stream/external.h"

/* Where the model and its data files go. */
typedef struct Destination {
  const char *model;  /* path, or NULL when the model is written in place: to standard output, a FIFO, a device */
  const char *stream; /* then its path, or NULL for standard output */
  const char *source; /* path of the model that is read, or NULL for standard input */
  char *folder;       /* that locations are relative to, in canonical form, owned */
} Destination;

/* output: as after -o. */
bool destination_init(Destination *destination, const char *output, const char *source, GError **error);
void destination_clear(Destination *destination);

/* Path of data file number shard. data: as after --data, or NULL. Returns: owned; NULL with error when there is no
 * name. */
char *destination_data_path(const Destination *destination, const char *data, size_t shard, GError **error);

/* The location that the model names for a data file: its path relative to the folder. Returns: owned; NULL with error
 * when the file is not below the folder, so that a reader would refuse it. */
char *destination_location(const Destination *destination, const char *path, GError **error);

/* Refuses to put an output in the place of something that the source needs. The model itself may replace the source
 * model, and then its data files those of the source, unless the source has another name that still needs them. path:
 * of a data file; NULL for the model. */
bool destination_check(const Destination *destination, const char *path, const OnnxlModel *model,
                       const OnnxlExternalFiles *files, GError **error);

#endif
