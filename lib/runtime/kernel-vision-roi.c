/* Regions of images and boxes: RoiAlign, MaxRoiPool, NonMaxSuppression. */
#include <math.h>

#include "runtime/kernel.h"
#include "runtime/tensor.h"
#include "support/sort.h"

/* Samples of one bin, so that a region of absurd size ends with an error instead of running for hours. */
#define MAX_SAMPLES (INT64_C(1) << 24)

static double
to_double(const OnnxlValue *x, int64_t i)
{
  return x->elem_type == ONNXL_TYPE_DOUBLE ? ((const double *)x->data)[i] : (double)((const float *)x->data)[i];
}

/* --- RoiAlign --- */

typedef struct Align {
  const OnnxlValue *x;
  int64_t channels, height, width;
  int64_t out_height, out_width;
  int64_t ratio; /* samples along each side of a bin; 0: as many as there are pixels */
  double scale;
  bool half_pixel;
  bool max;
} Align;

/* Four neighbours of a point and their weights. Returns false when it lies outside the image. */
static bool
neighbours(const Align *a, double y, double x, int64_t offsets[4], double weights[4])
{
  if (!(y >= -1 && y <= (double)a->height && x >= -1 && x <= (double)a->width))
    return false;
  y = MAX(y, 0);
  x = MAX(x, 0);
  int64_t top = (int64_t)y, left = (int64_t)x;
  int64_t bottom = top + 1, right = left + 1;
  if (top >= a->height - 1) {
    top = bottom = a->height - 1;
    y = (double)top;
  }
  if (left >= a->width - 1) {
    left = right = a->width - 1;
    x = (double)left;
  }
  double down = y - (double)top, across = x - (double)left;
  const int64_t places[4] = { top * a->width + left, top * a->width + right, bottom * a->width + left,
                              bottom * a->width + right };
  const double parts[4] = { (1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across };
  memcpy(offsets, places, sizeof places);
  memcpy(weights, parts, sizeof parts);
  return true;
}

/* The mean or maximum of the samples in a bin at (y, x). image: offset of the channel's first pixel. */
static double
sample_bin(const Align *a, int64_t image, double y, double x, double bin_height, double bin_width, int64_t rows,
           int64_t columns)
{
  double result = 0;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      int64_t offsets[4];
      double weights[4], sum = 0, top = 0;
      if (neighbours(a, y + ((double)i + 0.5) * bin_height / (double)rows,
                     x + ((double)j + 0.5) * bin_width / (double)columns, offsets, weights))
        for (int k = 0; k < 4; k++) {
          double part = weights[k] * to_double(a->x, image + offsets[k]);
          sum += part;
          top = k == 0 ? part : MAX(top, part);
        }
      if (!a->max)
        result += sum;
      else
        result = i == 0 && j == 0 ? top : MAX(result, top);
    }
  int64_t count = MAX(rows * columns, 1);
  return a->max ? result : result / (double)count;
}

static bool
align_region(OnnxlKernelContext *context, const Align *a, const double region[4], int64_t batch, int64_t at,
             OnnxlValue *y, GError **error)
{
  double offset = a->half_pixel ? 0.5 : 0;
  double left = region[0] * a->scale - offset, top = region[1] * a->scale - offset;
  double width = region[2] * a->scale - offset - left, height = region[3] * a->scale - offset - top;
  if (!a->half_pixel) { /* before opset 16 a region had at least one pixel */
    width = MAX(width, 1);
    height = MAX(height, 1);
  }
  double bin_width = width / (double)a->out_width, bin_height = height / (double)a->out_height;
  double rows = a->ratio > 0 ? (double)a->ratio : ceil(bin_height),
         columns = a->ratio > 0 ? (double)a->ratio : ceil(bin_width);
  rows = MAX(rows, 0);
  columns = MAX(columns, 0);
  if (!(rows * columns <= MAX_SAMPLES && rows <= MAX_SAMPLES && columns <= MAX_SAMPLES))
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "a region of %g x %g pixels has too many samples", height,
                          width);
  for (int64_t c = 0; c < a->channels; c++)
    for (int64_t i = 0; i < a->out_height; i++)
      for (int64_t j = 0; j < a->out_width; j++, at++) {
        double value = sample_bin(a, (batch * a->channels + c) * a->height * a->width, top + (double)i * bin_height,
                                  left + (double)j * bin_width, bin_height, bin_width, (int64_t)rows, (int64_t)columns);
        onnxl_tensor_write_double(y, at, 1, &value);
      }
  return true;
}

static bool
run_roi_align(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *rois = onnxl_ctx_input(context, 1);
  const OnnxlValue *batches = onnxl_ctx_input(context, 2);
  OnnxlStr mode = onnxl_ctx_string(context, "mode");
  OnnxlStr transform = onnxl_ctx_string(context, "coordinate_transformation_mode");
  if (x->rank != 4 || rois->rank != 2 || rois->dims[1] != 4 || batches->rank != 1 || batches->dims[0] != rois->dims[0])
    return onnxl_ctx_misfit(context, error,
                            "X must have rank 4, rois the shape [regions,4], batch_indices [regions]");
  if (!onnxl_str_is(mode, "avg") && !onnxl_str_is(mode, "max"))
    return onnxl_ctx_invalid(context, error, "mode is \"%.*s\"", ONNXL_ARG(mode));
  if (transform.size > 0 && !onnxl_str_is(transform, "half_pixel") && !onnxl_str_is(transform, "output_half_pixel"))
    return onnxl_ctx_invalid(context, error, "coordinate_transformation_mode is \"%.*s\"", ONNXL_ARG(transform));
  Align a = { x,
              x->dims[1],
              x->dims[2],
              x->dims[3],
              onnxl_ctx_int(context, "output_height"),
              onnxl_ctx_int(context, "output_width"),
              onnxl_ctx_int(context, "sampling_ratio"),
              onnxl_ctx_float(context, "spatial_scale"),
              onnxl_str_is(transform, "half_pixel"),
              onnxl_str_is(mode, "max") };
  if (a.ratio < 0 || a.ratio > MAX_SAMPLES)
    return onnxl_ctx_invalid(context, error, "sampling_ratio is %" G_GINT64_FORMAT, a.ratio);
  const int64_t dims[4] = { rois->dims[0], a.channels, a.out_height, a.out_width };
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, 4, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  if (x->count == 0)
    return onnxl_ctx_invalid(context, error, "an empty image has no regions");
  int64_t size = y->count / dims[0];
  for (int64_t i = 0; i < dims[0]; i++) {
    double region[4];
    int64_t batch = ((const int64_t *)batches->data)[i];
    if (batch < 0 || batch >= x->dims[0])
      return onnxl_ctx_invalid(context, error,
                               "the batch index %" G_GINT64_FORMAT " is outside %" G_GINT64_FORMAT " images", batch,
                               x->dims[0]);
    onnxl_tensor_read_double(rois, 4 * i, 4, region);
    if (!align_region(context, &a, region, batch, i * size, y, error))
      return false;
  }
  return true;
}
ONNXL_KERNEL(roi_align, COMPUTES);

/* --- MaxRoiPool --- */

/* Rows or columns of bin i of n, in a region that starts at start and has size pixels, cut to the image. */
static void
bin_range(double start, double size, int64_t i, int64_t n, int64_t limit, int64_t *ret_first, int64_t *ret_end)
{
  double bin = size / (double)n;
  *ret_first = (int64_t)CLAMP(floor((double)i * bin) + start, 0, (double)limit);
  *ret_end = (int64_t)CLAMP(ceil((double)(i + 1) * bin) + start, 0, (double)limit);
}

static bool
run_max_roi_pool(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *rois = onnxl_ctx_input(context, 1);
  OnnxlInt64List shape = onnxl_ctx_ints(context, "pooled_shape");
  double scale = onnxl_ctx_float(context, "spatial_scale");
  if (x->rank != 4 || rois->rank != 2 || rois->dims[1] != 5)
    return onnxl_ctx_misfit(context, error, "X must have rank 4 and rois the shape [regions,5]");
  if (shape.count != 2 || shape.items[0] < 1 || shape.items[1] < 1)
    return onnxl_ctx_invalid(context, error, "pooled_shape must be two positive numbers");
  int64_t height = x->dims[2], width = x->dims[3];
  const int64_t dims[4] = { rois->dims[0], x->dims[1], shape.items[0], shape.items[1] };
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, 4, dims, error);
  for (int64_t r = 0, at = 0; y && y->count > 0 && r < dims[0]; r++) {
    double region[5];
    onnxl_tensor_read_double(rois, 5 * r, 5, region);
    bool good = region[0] >= 0 && region[0] < (double)x->dims[0];
    for (int i = 1; i < 5; i++) {
      region[i] = round(region[i] * scale);
      good = good && isfinite(region[i]);
    }
    if (!good)
      return onnxl_ctx_invalid(context, error,
                               "region %" G_GINT64_FORMAT " is of image %g of %" G_GINT64_FORMAT
                               " or has no finite corners",
                               r, region[0], x->dims[0]);
    double w = MAX(region[3] - region[1] + 1, 1), h = MAX(region[4] - region[2] + 1, 1);
    for (int64_t c = 0; c < dims[1]; c++) {
      int64_t image = ((int64_t)region[0] * dims[1] + c) * height * width;
      for (int64_t i = 0; i < dims[2]; i++)
        for (int64_t j = 0; j < dims[3]; j++, at++) {
          int64_t top, bottom, left, right;
          bin_range(region[2], h, i, dims[2], height, &top, &bottom);
          bin_range(region[1], w, j, dims[3], width, &left, &right);
          double best = bottom > top && right > left ? -INFINITY : 0;
          for (int64_t row = top; row < bottom; row++)
            for (int64_t column = left; column < right; column++)
              best = MAX(best, to_double(x, image + row * width + column));
          onnxl_tensor_write_double(y, at, 1, &best);
        }
    }
  }
  return y != NULL;
}
ONNXL_KERNEL(max_roi_pool, COMPUTES);

/* --- NonMaxSuppression --- */

typedef struct Candidate {
  float score;
  int64_t box;
} Candidate;

/* Best first, NaN before all; equal scores in the order of the boxes. */
static int
compare_candidates(const void *left, const void *right)
{
  const Candidate *a = left, *b = right;
  bool a_nan = isnan(a->score), b_nan = isnan(b->score);
  if (a_nan != b_nan)
    return a_nan ? -1 : 1;
  if (!a_nan && a->score != b->score)
    return a->score > b->score ? -1 : 1;
  return a->box < b->box ? -1 : a->box > b->box;
}

typedef struct Edges {
  float left, right, top, bottom;
} Edges;

static Edges
edges_of(const float *box, bool centered)
{
  if (centered)
    return (Edges){ box[0] - box[2] / 2, box[0] + box[2] / 2, box[1] - box[3] / 2, box[1] + box[3] / 2 };
  return (Edges){ MIN(box[1], box[3]), MAX(box[1], box[3]), MIN(box[0], box[2]), MAX(box[0], box[2]) };
}

/* Intersection over union. */
static bool
overlaps(const Edges *a, const Edges *b, float threshold)
{
  float width = MIN(a->right, b->right) - MAX(a->left, b->left),
        height = MIN(a->bottom, b->bottom) - MAX(a->top, b->top);
  if (!(width > 0 && height > 0))
    return false;
  float both = width * height, area_a = (a->right - a->left) * (a->bottom - a->top);
  float area_b = (b->right - b->left) * (b->bottom - b->top), all = area_a + area_b - both;
  return area_a > 0 && area_b > 0 && all > 0 && both / all > threshold;
}

/* Moves the boxes that are kept to the front of the sorted candidates. edges: room for as many. Returns how many. */
static int64_t
suppress(Candidate *candidates, int64_t n, const float *boxes, bool centered, float threshold, int64_t max,
         Edges *edges)
{
  int64_t kept = 0;
  for (int64_t i = 0; i < n && kept < max; i++) {
    Edges own = edges_of(boxes + 4 * candidates[i].box, centered);
    bool hidden = false;
    for (int64_t j = 0; !hidden && j < kept; j++)
      hidden = overlaps(&own, &edges[j], threshold);
    if (hidden)
      continue;
    edges[kept] = own;
    candidates[kept++] = candidates[i];
  }
  return kept;
}

static bool
run_non_max_suppression(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *boxes = onnxl_ctx_input(context, 0), *scores = onnxl_ctx_input(context, 1);
  const OnnxlValue *max_in = onnxl_ctx_input(context, 2), *iou_in = onnxl_ctx_input(context, 3);
  const OnnxlValue *least_in = onnxl_ctx_input(context, 4);
  bool centered = onnxl_ctx_int(context, "center_point_box") != 0;
  int64_t max = 0, n_chosen = 0;
  double iou = 0, least = 0;
  if (boxes->rank != 3 || scores->rank != 3 || boxes->dims[2] != 4 || boxes->dims[0] != scores->dims[0] ||
      boxes->dims[1] != scores->dims[2])
    return onnxl_ctx_invalid(context, error,
                             "boxes must have the shape [batches, boxes, 4], scores [batches, classes, boxes]");
  if ((max_in && !onnxl_ctx_scalar_int(context, max_in, &max, error)) ||
      (iou_in && !onnxl_ctx_scalar_double(context, iou_in, &iou, error)) ||
      (least_in && !onnxl_ctx_scalar_double(context, least_in, &least, error)))
    return false;
  int64_t n = boxes->dims[1], classes = scores->dims[1];
  Candidate *candidates = onnxl_ctx_scratch(context, (uint64_t)n, sizeof *candidates, error);
  Edges *edges = candidates ? onnxl_ctx_scratch(context, (uint64_t)n, sizeof *edges, error) : NULL;
  /* Of each class at most max boxes, and no more than there are. */
  uint64_t room = max > 0 && n > 0 ? (uint64_t)(scores->count / n) * (uint64_t)MIN(max, n) : 0;
  int64_t(*chosen)[3] = edges ? onnxl_ctx_scratch(context, room, sizeof *chosen, error) : NULL;
  if (!chosen)
    return false;
  for (int64_t g = 0; room > 0 && g < scores->count / n; g++) {
    const float *from = (const float *)scores->data + g * n;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
      if (!least_in || from[i] > (float)least)
        candidates[count++] = (Candidate){ from[i], i };
    onnxl_sort(candidates, (size_t)count, sizeof *candidates, compare_candidates);
    int64_t kept =
      suppress(candidates, count, (const float *)boxes->data + g / classes * n * 4, centered, (float)iou, max, edges);
    for (int64_t i = 0; i < kept; i++, n_chosen++) {
      chosen[n_chosen][0] = g / classes;
      chosen[n_chosen][1] = g % classes;
      chosen[n_chosen][2] = candidates[i].box;
    }
  }
  const int64_t dims[2] = { n_chosen, 3 };
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_INT64, 2, dims, error);
  if (y && n_chosen > 0)
    memcpy(y->data, chosen, y->bytes);
  return y != NULL;
}
ONNXL_KERNEL(non_max_suppression, EXACT);
