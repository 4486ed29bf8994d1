/* Where outputs and dumped values go, piece by piece: for those that write the results of many runs. */
#ifndef ONNXL_EXEC_OUTPUTS_H
#define ONNXL_EXEC_OUTPUTS_H

#include "exec.h"

/* Complains about values of --dump that were not computed, and drops those that are outputs, which are shown anyway. */
bool outputs_settle_dump(const Session *session, const Dump *dump, GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool outputs_make_folder(const char *folder, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Writes outputs and dumped values as files of a folder that exists. flags: OnnxlOutputFlags. */
bool outputs_write_folder(const Session *session, const Dump *dump, const char *folder, int flags,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* True when the folder has a file for every output. */
bool outputs_are_in(const Session *session, const char *folder);
/* Prints outputs and dumped values with the key of a line of a batch. */
void outputs_print_line(const OnnxlRun *run, const Session *session, const Dump *dump, const char *key,
                        OnnxlOutput *out);

#endif
