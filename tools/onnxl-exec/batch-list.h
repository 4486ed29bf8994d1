/* The list of --batch: a line a set of inputs, "KEY NAME=SPEC…", quoted as in sh. */
#ifndef ONNXL_EXEC_BATCH_LIST_H
#define ONNXL_EXEC_BATCH_LIST_H

#include "support/str.h"

#include <glib.h>

typedef struct BatchList {
  const char *name; /* for findings */
  int fd;
  char *buffer;
  size_t start, end;  /* of what is buffered */
  bool at_end;        /* nothing comes behind it */
  uint32_t line;      /* of the latest line, from 1 */
  uint64_t n_entries; /* lines so far that are neither blank nor a comment */
} BatchList;

/* A line that says something. */
typedef struct BatchEntry {
  char **words; /* key and inputs, NULL at the end; NULL: the line is wrong */
  char *fault;  /* what is wrong with it, else NULL */
} BatchEntry;

/* path: "-" is standard input, whose lines are taken as they arrive. */
bool batch_list_open(BatchList *list, const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void batch_list_close(BatchList *list);

/* Number of lines, 0 when they cannot be counted beforehand. */
uint64_t batch_list_count(const BatchList *list);

/* The next entry. *ret_more false: there is none. Fails only when the list cannot be read. */
bool batch_list_next(BatchList *list, BatchEntry *entry, bool *ret_more, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void batch_entry_clear(BatchEntry *entry);

#endif
