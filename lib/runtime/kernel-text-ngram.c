/* TfIdfVectorizer: counts how often n-grams of a pool occur. */
#include "runtime/ml-lookup-internal.h"

/* Items are replaced by where they stand in the pool, so that n-grams are rows of integers, sorted to be found. */
typedef struct Pool {
  OnnxlMlLookup items;
  const int64_t *ids;     /* of the pool's items */
  OnnxlInt64List starts;  /* where the 1-grams, 2-grams … start in the pool */
  OnnxlInt64List indexes; /* the output column of each n-gram */
  int64_t width;          /* columns */
} Pool;

/* The n-grams of one length. */
typedef struct Grams {
  const int64_t *items; /* of the first n-gram */
  int64_t n;            /* items in an n-gram */
  int64_t count;
  int64_t first; /* how many n-grams of other lengths are in the pool before */
  int64_t *order;
} Grams;

static int
compare_gram(const int64_t *a, const int64_t *b, int64_t stride, int64_t n)
{
  for (int64_t k = 0; k < n; k++)
    if (a[k] != b[k * stride])
      return a[k] < b[k * stride] ? -1 : 1;
  return 0;
}

static int
compare_order(const void *a, const void *b, void *data)
{
  const Grams *grams = data;
  int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
  int order = compare_gram(grams->items + i * grams->n, grams->items + j * grams->n, 1, grams->n);
  return order != 0 ? order : (i > j) - (i < j);
}

/* Index among the n-grams of the items at row, row + stride, …; -1 = it is none. */
static int64_t
find_gram(const Grams *grams, const int64_t *row, int64_t stride)
{
  int64_t low = 0, high = grams->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (compare_gram(grams->items + grams->order[middle] * grams->n, row, stride, grams->n) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == grams->count || compare_gram(grams->items + grams->order[low] * grams->n, row, stride, grams->n) != 0)
    return -1;
  return grams->order[low];
}

static bool
fill_pool(OnnxlKernelContext *context, Pool *pool, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlMlColumn texts = onnxl_ml_column_of_strings(onnxl_ctx_strings(context, "pool_strings"));
  OnnxlMlColumn items = texts.count > 0 ? texts : onnxl_ml_column_of_ints(onnxl_ctx_ints(context, "pool_int64s"));
  if ((x->elem_type == ONNXL_TYPE_STRING) != (texts.count > 0))
    return onnxl_ctx_invalid(context, error, "the pool does not hold what the input holds");
  int64_t *ids = onnxl_ctx_scratch(context, (uint64_t)items.count, sizeof *ids, error);
  if (!ids || !onnxl_ml_lookup_init(context, &pool->items, items, error))
    return false;
  for (int64_t i = 0; i < items.count; i++)
    ids[i] = onnxl_ml_lookup_find(&pool->items, &items, i);
  pool->ids = ids;
  pool->starts = onnxl_ctx_ints(context, "ngram_counts");
  pool->indexes = onnxl_ctx_ints(context, "ngram_indexes");
  for (size_t i = 0; i < pool->indexes.count; i++) {
    if (pool->indexes.items[i] < 0 || pool->indexes.items[i] == INT64_MAX)
      return onnxl_ctx_invalid(context, error, "ngram_indexes has the impossible index %" G_GINT64_FORMAT,
                               pool->indexes.items[i]);
    pool->width = MAX(pool->width, pool->indexes.items[i] + 1);
  }
  return true;
}

/* The n-grams of length n; before: how many shorter ones there are. */
static bool
get_grams(OnnxlKernelContext *context, const Pool *pool, int64_t n, int64_t before, Grams *grams, GError **error)
{
  int64_t total = pool->items.keys.count, start = pool->starts.items[n - 1];
  int64_t end = (uint64_t)n < pool->starts.count ? pool->starts.items[n] : total;
  if (start < 0 || end < start || end > total || (end - start) % n != 0)
    return onnxl_ctx_invalid(context, error,
                             "ngram_counts gives items %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                             " of %" G_GINT64_FORMAT " to the n-grams of length %" G_GINT64_FORMAT,
                             start, end, total, n);
  *grams = (Grams){ pool->ids + start, n, (end - start) / n, before, NULL };
  if ((uint64_t)(before + grams->count) > pool->indexes.count)
    return onnxl_ctx_invalid(context, error, "there are more n-grams in the pool than in ngram_indexes");
  grams->order = onnxl_ctx_scratch(context, (uint64_t)grams->count, sizeof *grams->order, error);
  if (!grams->order)
    return false;
  for (int64_t i = 0; i < grams->count; i++)
    grams->order[i] = i;
  if (grams->count > 0)
    qsort_r(grams->order, (size_t)grams->count, sizeof *grams->order, compare_order, grams);
  return true;
}

typedef enum Weighting { WEIGH_TF, WEIGH_IDF, WEIGH_TFIDF } Weighting;

/* Adds the n-grams of one row, with up to max_skip items left out between two of an n-gram, always as many. */
static void
count_row(const Pool *pool, const Grams *grams, const int64_t *row, int64_t length, int64_t max_skip,
          Weighting weighting, OnnxlFloatList weights, float *counts)
{
  int64_t n = grams->n;
  for (int64_t skip = 0; skip <= (n == 1 ? 0 : max_skip); skip++) {
    int64_t stride = skip + 1;
    if (n > 1 && stride > (length - 1) / (n - 1))
      return;
    for (int64_t i = 0; i + (n - 1) * stride < length; i++) {
      int64_t found = find_gram(grams, row + i, stride);
      if (found < 0)
        continue;
      int64_t gram = grams->first + found;
      float weight = weighting != WEIGH_TF && weights.count > 0 ? weights.items[gram] : 1;
      float *count = &counts[pool->indexes.items[gram]];
      *count = weighting == WEIGH_IDF ? weight : *count + weight;
    }
  }
}

static bool
get_weighting(const OnnxlKernelContext *context, Weighting *ret_weighting, GError **error)
{
  OnnxlStr mode = onnxl_ctx_string(context, "mode");
  *ret_weighting = onnxl_str_is(mode, "IDF") ? WEIGH_IDF : onnxl_str_is(mode, "TFIDF") ? WEIGH_TFIDF : WEIGH_TF;
  return *ret_weighting != WEIGH_TF || onnxl_str_is(mode, "TF") ||
         onnxl_ctx_invalid(context, error, "the mode \"%.*s\" is unknown", ONNXL_ARG(mode));
}

static bool
run_tf_idf_vectorizer(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int64_t least = onnxl_ctx_int(context, "min_gram_length"), most = onnxl_ctx_int(context, "max_gram_length");
  int64_t max_skip = onnxl_ctx_int(context, "max_skip_count"), before = 0;
  OnnxlFloatList weights = onnxl_ctx_floats(context, "weights");
  OnnxlMlColumn words = onnxl_ml_column(x);
  Weighting weighting;
  Pool pool = { 0 };
  if (x->rank != 1 && x->rank != 2)
    return onnxl_ctx_invalid(context, error, "the input has rank %u when 1 or 2 is expected", x->rank);
  if (!get_weighting(context, &weighting, error) || !fill_pool(context, &pool, error))
    return false;
  if (least < 1 || most < least || (uint64_t)most > pool.starts.count || max_skip < 0)
    return onnxl_ctx_invalid(context, error,
                             "n-grams of length %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                             " with up to %" G_GINT64_FORMAT " skipped items are asked for, and ngram_counts has %zu "
                             "lengths",
                             least, most, max_skip, pool.starts.count);
  if (weights.count > 0 && weights.count != pool.indexes.count)
    return onnxl_ctx_invalid(context, error, "there are %zu weights for %zu n-grams", weights.count,
                             pool.indexes.count);
  int64_t rows = x->rank == 1 ? 1 : x->dims[0], length = x->dims[x->rank - 1];
  int64_t *ids = onnxl_ctx_scratch(context, (uint64_t)x->count, sizeof *ids, error);
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_FLOAT, x->rank,
                                   x->rank == 1 ? (int64_t[]){ pool.width } : (int64_t[]){ rows, pool.width }, error);
  if (!ids || !y)
    return false;
  if (y->count == 0)
    return true;
  for (int64_t i = 0; i < x->count; i++)
    ids[i] = onnxl_ml_lookup_find(&pool.items, &words, i);
  memset(y->data, 0, y->bytes);
  for (int64_t n = 1; n <= most; n++) {
    Grams grams;
    if (!get_grams(context, &pool, n, before, &grams, error))
      return false;
    for (int64_t r = 0; n >= least && r < rows; r++)
      count_row(&pool, &grams, ids + r * length, length, max_skip, weighting, weights,
                (float *)y->data + r * pool.width);
    before += grams.count;
  }
  return true;
}
ONNXL_KERNEL(tf_idf_vectorizer, EXACT);
