#include "support/nearest.h"

enum { MAX_SIZE = 40 };

/* Number of insertions, deletions, replacements and swaps of neighbours that turn a into b; case counts for nothing. */
static unsigned
distance(OnnxlStr a, OnnxlStr b)
{
  unsigned char rows[3][MAX_SIZE + 1];
  unsigned char *before = rows[0], *last = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b.size; j++)
    last[j] = (unsigned char)j;
  for (size_t i = 1; i <= a.size; i++) {
    row[0] = (unsigned char)i;
    for (size_t j = 1; j <= b.size; j++) {
      char x = a.data[i - 1] | 0x20, y = b.data[j - 1] | 0x20;
      unsigned best = last[j - 1] + (x != y);
      if (last[j] + 1u < best)
        best = last[j] + 1u;
      if (row[j - 1] + 1u < best)
        best = row[j - 1] + 1u;
      if (i > 1 && j > 1 && x == (b.data[j - 2] | 0x20) && (a.data[i - 2] | 0x20) == y && before[j - 2] + 1u < best)
        best = before[j - 2] + 1u;
      row[j] = (unsigned char)best;
    }
    unsigned char *oldest = before;
    before = last;
    last = row;
    row = oldest;
  }
  return last[b.size];
}

const char *
onnxl_nearest(OnnxlStr text, const char *const *candidates, size_t count)
{
  const char *nearest = NULL;
  /* One mistake for every three bytes. */
  unsigned least = (text.size < 3 ? 1 : (unsigned)(text.size / 3)) + 1;
  if (text.size == 0 || text.size > MAX_SIZE)
    return NULL;
  for (size_t i = 0; i < count; i++) {
    OnnxlStr candidate = onnxl_str(candidates[i]);
    if (candidate.size == 0 || candidate.size > MAX_SIZE)
      continue;
    unsigned d = distance(text, candidate);
    /* A hint that shares nothing with a short word helps nobody. */
    if (d < least && d < candidate.size && d < text.size) {
      least = d;
      nearest = candidates[i];
    }
  }
  return nearest;
}
