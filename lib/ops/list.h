/* The operator table as a report: one row an operator. */
#ifndef ONNXL_OPS_LIST_H
#define ONNXL_OPS_LIST_H

#include "ops/ops.h"
#include "support/output.h"

typedef enum OnnxlOpsFormat {
  ONNXL_OPS_TABLE, /* aligned columns under a heading */
  ONNXL_OPS_JSON,  /* {"operators":[{"domain","name","versions","shape","inplace","kernel"}, …]}; the last three are
                    * lists of the versions that have one */
  ONNXL_OPS_CSV,   /* the table's columns; versions are separated by blanks */
} OnnxlOpsFormat;

/* Writes all operators sorted by domain and name: their versions, oldest first, and for each of shape rule, in-place
 * rule and kernel "yes" when all versions have one, "no" when none has, else the versions that do. */
void onnxl_ops_list(OnnxlOutput *out, OnnxlOpsFormat format);

#endif
