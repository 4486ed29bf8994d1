/* Signals: Fourier transforms, windows, the weights of mel filters. */
#include <math.h>

#include "runtime/fft.h"
#include "runtime/tensor.h"
#include "shapes/sizes.h"

/* --- DFT --- */

/* How many values a signal has along an axis, how far apart they are, and where the signals start: outer x inner of
 * them. The last axis of the tensor holds the parts of a number, real and perhaps imaginary. */
typedef struct Lines {
  int64_t outer, inner;
  int64_t length;
  int64_t parts;
} Lines;

static Lines
lines_along(const int64_t *dims, uint32_t rank, int64_t axis)
{
  Lines lines = { 1, 1, dims[axis], dims[rank - 1] };
  for (uint32_t i = 0; i < rank - 1; i++)
    if (i < axis)
      lines.outer *= dims[i];
    else if (i > axis)
      lines.inner *= dims[i];
  return lines;
}

/* The index of value i of a line, in numbers of lines->parts elements. */
static int64_t
line_at(const Lines *lines, int64_t outer, int64_t inner, int64_t i)
{
  return (outer * lines->length + i) * lines->inner + inner;
}

/* What is asked for. */
typedef struct DftTask {
  int64_t axis;
  int64_t n;     /* length of the transform */
  int64_t n_out; /* values that come out */
  bool inverse;
  bool one_sided;
  bool real_out; /* only real parts are wanted */
} DftTask;

static bool
get_dft_task(OnnxlKernelContext *context, const OnnxlValue *x, DftTask *task, GError **error)
{
  const OnnxlValue *length = onnxl_ctx_input(context, 1), *axis = onnxl_ctx_input(context, 2);
  task->inverse = onnxl_ctx_int(context, "inverse") != 0;
  task->one_sided = onnxl_ctx_int(context, "onesided") != 0;
  task->axis = onnxl_ctx_schema(context)->since < 20 ? onnxl_ctx_int(context, "axis") : -2;
  if (x->rank < 2 || (x->dims[x->rank - 1] != 1 && x->dims[x->rank - 1] != 2))
    return onnxl_ctx_misfit(context, error, "the input's last axis must hold the 1 or 2 parts of a number");
  if (axis && !onnxl_ctx_scalar_int(context, axis, &task->axis, error))
    return false;
  if (!onnxl_ctx_axis(context, task->axis, x->rank, &task->axis, error))
    return false;
  if (task->axis == x->rank - 1)
    return onnxl_ctx_invalid(context, error, "the last axis holds the parts of a number and cannot be transformed");
  bool from_half = task->one_sided && task->inverse;
  if (task->one_sided && !task->inverse && x->dims[x->rank - 1] == 2)
    return onnxl_ctx_invalid(context, error, "a one-sided transform needs a real input");
  task->n = from_half ? onnxl_dft_whole(x->dims[task->axis]) : x->dims[task->axis];
  if (length && !onnxl_ctx_scalar_int(context, length, &task->n, error))
    return false;
  if (task->n < 1)
    return onnxl_ctx_invalid(context, error, "a transform of length %" G_GINT64_FORMAT " is asked for", task->n);
  task->real_out = from_half;
  task->n_out = task->one_sided && !task->inverse ? onnxl_dft_half(task->n) : task->n;
  return true;
}

/* Values beyond the line are zeros, those beyond the transform are left out. Of half a spectrum the other half follows.
 */
static void
load_line(const DftTask *task, const Lines *lines, const double *x, int64_t outer, int64_t inner, double *line)
{
  int64_t taken = MIN(lines->length, task->real_out ? task->n / 2 + 1 : task->n);
  memset(line, 0, (size_t)task->n * 2 * sizeof *line);
  for (int64_t i = 0; i < taken; i++) {
    const double *value = x + line_at(lines, outer, inner, i) * lines->parts;
    line[2 * i] = value[0];
    line[2 * i + 1] = lines->parts == 2 ? value[1] : 0;
  }
  if (!task->real_out)
    return;
  line[1] = 0;
  if (task->n % 2 == 0)
    line[task->n + 1] = 0;
  for (int64_t i = 1; i < (task->n + 1) / 2; i++) {
    line[2 * (task->n - i)] = line[2 * i];
    line[2 * (task->n - i) + 1] = -line[2 * i + 1];
  }
}

static bool
run_dft(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *input = onnxl_ctx_input(context, 0);
  int64_t dims[ONNXL_MAX_RANK];
  DftTask task;
  if (!get_dft_task(context, input, &task, error))
    return false;
  memcpy(dims, input->dims, input->rank * sizeof *dims);
  dims[task.axis] = task.n_out;
  dims[input->rank - 1] = task.real_out ? 1 : 2;
  OnnxlValue *y = onnxl_ctx_output(context, 0, input->elem_type, input->rank, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  const double *x = onnxl_ctx_doubles(context, input, error);
  OnnxlFft *fft = onnxl_fft_new(context, task.n, task.inverse, error);
  double *line = onnxl_ctx_scratch(context, (uint64_t)task.n, 2 * sizeof *line, error);
  if (!x || !fft || !line)
    return false;
  Lines from = lines_along(input->dims, input->rank, task.axis), to = lines_along(dims, input->rank, task.axis);
  double scale = task.inverse ? 1 / (double)task.n : 1;
  for (int64_t outer = 0; outer < from.outer; outer++)
    for (int64_t inner = 0; inner < from.inner; inner++) {
      load_line(&task, &from, x, outer, inner, line);
      onnxl_fft_run(fft, line);
      for (int64_t i = 0; i < task.n_out; i++) {
        double value[2] = { line[2 * i] * scale, line[2 * i + 1] * scale };
        onnxl_tensor_write_double(y, line_at(&to, outer, inner, i) * to.parts, (size_t)to.parts, value);
      }
    }
  return true;
}
ONNXL_KERNEL(dft, EXACT);

/* --- STFT --- */

typedef struct StftTask {
  int64_t step;
  int64_t length; /* of a frame and of its transform */
  int64_t n_frames;
  int64_t n_out;
  const double *window; /* NULL: ones */
  int64_t n_window;
} StftTask;

static bool
get_stft_task(OnnxlKernelContext *context, const OnnxlValue *signal, StftTask *task, GError **error)
{
  const OnnxlValue *window = onnxl_ctx_input(context, 2), *length = onnxl_ctx_input(context, 3);
  bool one_sided = onnxl_ctx_int(context, "onesided") != 0;
  if (signal->rank != 3 || (signal->dims[2] != 1 && signal->dims[2] != 2))
    return onnxl_ctx_invalid(context, error, "the signal must have the shape [batch,length,1] or [batch,length,2]");
  if (one_sided && signal->dims[2] == 2)
    return onnxl_ctx_invalid(context, error, "a one-sided transform needs a real signal");
  if (window && window->rank != 1)
    return onnxl_ctx_invalid(context, error, "the window has rank %u when 1 is expected", window->rank);
  *task = (StftTask){ .length = window ? window->count : signal->dims[1] };
  if (!onnxl_ctx_scalar_int(context, onnxl_ctx_input(context, 1), &task->step, error) ||
      (length && !onnxl_ctx_scalar_int(context, length, &task->length, error)))
    return false;
  if (task->step < 1 || task->length < 1 || task->length > signal->dims[1])
    return onnxl_ctx_invalid(context, error,
                             "frames of length %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " apart, do not fit "
                             "a signal of length %" G_GINT64_FORMAT,
                             task->length, task->step, signal->dims[1]);
  if (window) {
    task->window = onnxl_ctx_doubles(context, window, error);
    task->n_window = window->count;
    if (!task->window)
      return false;
  }
  task->n_frames = onnxl_stft_frames(signal->dims[1], task->length, task->step);
  task->n_out = one_sided ? onnxl_dft_half(task->length) : task->length;
  return true;
}

static bool
run_stft(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *signal = onnxl_ctx_input(context, 0);
  StftTask task;
  if (!get_stft_task(context, signal, &task, error))
    return false;
  int64_t parts = signal->dims[2], at = 0;
  const double *x = onnxl_ctx_doubles(context, signal, error);
  OnnxlFft *fft = onnxl_fft_new(context, task.length, false, error);
  double *frame = onnxl_ctx_scratch(context, (uint64_t)task.length, 2 * sizeof *frame, error);
  OnnxlValue *y = onnxl_ctx_output(context, 0, signal->elem_type, 4,
                                   (int64_t[]){ signal->dims[0], task.n_frames, task.n_out, 2 }, error);
  if (!x || !fft || !frame || !y)
    return false;
  for (int64_t b = 0; b < signal->dims[0]; b++)
    for (int64_t f = 0; f < task.n_frames; f++) {
      const double *from = x + (b * signal->dims[1] + f * task.step) * parts;
      for (int64_t i = 0; i < task.length; i++) {
        double weight = !task.window ? 1 : i < task.n_window ? task.window[i] : 0;
        frame[2 * i] = from[i * parts] * weight;
        frame[2 * i + 1] = parts == 2 ? from[i * parts + 1] * weight : 0;
      }
      onnxl_fft_run(fft, frame);
      onnxl_tensor_write_double(y, at, (size_t)(2 * task.n_out), frame);
      at += 2 * task.n_out;
    }
  return true;
}
ONNXL_KERNEL(stft, EXACT);

/* --- windows --- */

/* The tensor that the attribute output_datatype asks for. */
static OnnxlValue *
typed_output(OnnxlKernelContext *context, size_t rank, const int64_t *dims, GError **error)
{
  int64_t elem_type = onnxl_ctx_int(context, "output_datatype");
  if (elem_type < 1 || elem_type > 31 ||
      (!onnxl_type_is_float((int32_t)elem_type) && !onnxl_type_is_integer((int32_t)elem_type)) ||
      onnxl_data_type_bits((int32_t)elem_type) < 8) {
    onnxl_ctx_invalid(context, error, "output_datatype is %" G_GINT64_FORMAT ", which is no type of numbers",
                      elem_type);
    return NULL;
  }
  return onnxl_ctx_output(context, 0, (int32_t)elem_type, rank, dims, error);
}

/* a - b cos(2 pi i / n) + c cos(4 pi i / n), where n is the size, or one less when both ends are to be equal. */
static bool
cosine_window(OnnxlKernelContext *context, double a, double b, double c, GError **error)
{
  int64_t size;
  if (!onnxl_ctx_scalar_int(context, onnxl_ctx_input(context, 0), &size, error))
    return false;
  if (size < 0)
    return onnxl_ctx_invalid(context, error, "the window has the size %" G_GINT64_FORMAT, size);
  double n = (double)(onnxl_ctx_int(context, "periodic") != 0 ? size : size - 1);
  OnnxlValue *y = typed_output(context, 1, &size, error);
  for (int64_t i = 0; y && i < size; i++) {
    double angle = 2 * G_PI * ((double)i / n);
    onnxl_tensor_write_double(y, i, 1, &(double){ a - b * cos(angle) + c * cos(2 * angle) });
  }
  return y != NULL;
}

static bool
run_hann_window(OnnxlKernelContext *context, GError **error)
{
  return cosine_window(context, 0.5, 0.5, 0, error);
}
ONNXL_KERNEL(hann_window, EXACT);

static bool
run_hamming_window(OnnxlKernelContext *context, GError **error)
{
  return cosine_window(context, 25.0 / 46, 21.0 / 46, 0, error);
}
ONNXL_KERNEL(hamming_window, EXACT);

static bool
run_blackman_window(OnnxlKernelContext *context, GError **error)
{
  return cosine_window(context, 0.42, 0.5, 0.08, error);
}
ONNXL_KERNEL(blackman_window, EXACT);

/* --- MelWeightMatrix --- */

static double
hertz_to_mel(double hertz)
{
  return 2595 * log10(1 + hertz / 700);
}

static double
mel_to_hertz(double mel)
{
  return 700 * (pow(10, mel / 2595) - 1);
}

/* The spectrum's bins where the triangles of the filters start, have their top and end. */
static bool
mel_edges(OnnxlKernelContext *context, int64_t n_filters, int64_t dft_length, int64_t *edges, GError **error)
{
  double sample_rate, low, high, last = (double)(dft_length / 2);
  if (!onnxl_ctx_scalar_double(context, onnxl_ctx_input(context, 2), &sample_rate, error) ||
      !onnxl_ctx_scalar_double(context, onnxl_ctx_input(context, 3), &low, error) ||
      !onnxl_ctx_scalar_double(context, onnxl_ctx_input(context, 4), &high, error))
    return false;
  double first = hertz_to_mel(low), step = (hertz_to_mel(high) - first) / (double)(n_filters + 2);
  for (int64_t i = 0; i < n_filters + 2; i++) {
    double bin = floor((double)(dft_length + 1) * mel_to_hertz(first + step * (double)i) / sample_rate);
    if (!(bin >= 0 && bin <= last))
      return onnxl_ctx_invalid(context, error,
                               "the frequencies from %g to %g lie outside of the spectrum at a rate of %g", low,
                               high, sample_rate);
    edges[i] = (int64_t)bin;
  }
  return true;
}

static bool
run_mel_weight_matrix(OnnxlKernelContext *context, GError **error)
{
  int64_t n_filters, dft_length;
  if (!onnxl_ctx_scalar_int(context, onnxl_ctx_input(context, 0), &n_filters, error) ||
      !onnxl_ctx_scalar_int(context, onnxl_ctx_input(context, 1), &dft_length, error))
    return false;
  if (n_filters < 0 || n_filters > INT64_MAX - 2 || dft_length < 1 || dft_length == INT64_MAX)
    return onnxl_ctx_invalid(
      context, error, "%" G_GINT64_FORMAT " filters for a transform of length %" G_GINT64_FORMAT " are asked for",
      n_filters, dft_length);
  int64_t n_bins = onnxl_dft_half(dft_length);
  OnnxlValue *y = typed_output(context, 2, (int64_t[]){ n_bins, n_filters }, error);
  int64_t *edges = y ? onnxl_ctx_scratch(context, (uint64_t)n_filters + 2, sizeof *edges, error) : NULL;
  if (!edges || !mel_edges(context, n_filters, dft_length, edges, error))
    return false;
  if (y->count > 0)
    memset(y->data, 0, y->bytes);
  for (int64_t i = 0; i < n_filters; i++) {
    int64_t left = edges[i], top = edges[i + 1], right = edges[i + 2];
    for (int64_t j = left; j <= top; j++)
      onnxl_tensor_write_double(y, j * n_filters + i, 1,
                                &(double){ left == top ? 1 : (double)(j - left) / (double)(top - left) });
    for (int64_t j = top; j < right; j++)
      onnxl_tensor_write_double(y, j * n_filters + i, 1, &(double){ (double)(right - j) / (double)(right - top) });
  }
  return true;
}
ONNXL_KERNEL(mel_weight_matrix, EXACT);
