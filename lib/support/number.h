/* Numbers as text, in the C locale whatever the locale is. Floats are printed with the fewest digits that read back the
 * same value, and read with a single rounding. */
#ifndef ONNXL_SUPPORT_NUMBER_H
#define ONNXL_SUPPORT_NUMBER_H

#include "support/float-formats.h"
#include "support/output.h"
#include "support/str.h"

/* Room that any printed float or double fits in. */
#define ONNXL_NUMBER_SIZE 32

/* Writes value and returns the number of characters, not terminated. Always with a point or an exponent: positional
 * from 1e-4 up to below 1e7 (double: 1e16), else as "1.5e-05"; "inf", "-inf", "nan", "-nan" (a NaN's payload is not
 * shown). Of several shortest texts the one nearest to value is taken, of two equally near ones the one with an even
 * last digit. */
size_t onnxl_print_float(char text[ONNXL_NUMBER_SIZE], float value);
size_t onnxl_print_double(char text[ONNXL_NUMBER_SIZE], double value);

/* The same into an output. */
void onnxl_output_float(OnnxlOutput *out, float value);
void onnxl_output_double(OnnxlOutput *out, double value);

typedef enum OnnxlNumberStatus {
  ONNXL_NUMBER_OK,
  ONNXL_NUMBER_SYNTAX, /* the text is not such a number */
  ONNXL_NUMBER_RANGE,  /* it is one, but too large for the type (or an infinity or NaN that the format does not have) */
} OnnxlNumberStatus;

/* Reads a whole text: -?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)? or -? with inf, infinity or nan in any case. Rounds once,
 * to nearest even. The result is set with status OK only. */
OnnxlNumberStatus onnxl_parse_float(OnnxlStr text, float *ret_value) G_GNUC_WARN_UNUSED_RESULT;
OnnxlNumberStatus onnxl_parse_double(OnnxlStr text, double *ret_value) G_GNUC_WARN_UNUSED_RESULT;

/* The same for a format that C does not have: the result is the code. */
OnnxlNumberStatus onnxl_parse_float_format(OnnxlStr text, OnnxlFloatFormat format,
                                           uint16_t *ret_code) G_GNUC_WARN_UNUSED_RESULT;

/* -?[0-9]+, leading zeros allowed; no plus sign, no blanks. For uint64 a minus sign is syntax, "-0" included. */
OnnxlNumberStatus onnxl_parse_int64(OnnxlStr text, int64_t *ret_value) G_GNUC_WARN_UNUSED_RESULT;
OnnxlNumberStatus onnxl_parse_uint64(OnnxlStr text, uint64_t *ret_value) G_GNUC_WARN_UNUSED_RESULT;

#endif
