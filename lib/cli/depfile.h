/* Makefile dependency files, as a compiler's -MD writes them. */
#ifndef ONNXL_CLI_DEPFILE_H
#define ONNXL_CLI_DEPFILE_H

#include "cli/options.h"
#include "support/output.h"

/* Writes "TARGETS: INPUTS" and an empty rule for each input, so that make goes on when an input was removed. Names are
 * escaped for make; of equal inputs the first one counts. */
void onnxl_depfile_write(OnnxlOutput *out, const OnnxlStringList *targets, const OnnxlStringList *inputs);

/* The name that -MD without -MF takes: output with its extension replaced by ".d". Returns: owned. */
char *onnxl_depfile_name(const char *output);

#endif
