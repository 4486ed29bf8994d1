/* --by and --top: bytes summed up by operator or tag, and the largest rows. */
#include "cli/table.h"
#include "report.h"
#include "support/error.h"
#include "support/sort.h"

typedef struct Group {
  OnnxlStr name;
  uint32_t n_nodes;
  OnnxlExpr bytes;
  OnnxlExpr upper; /* of bytes, where they hold a size that only a run shows; else bytes */
  int64_t number;  /* upper when it is a number */
} Group;

static int
by_number(const void *a, const void *b)
{
  const Group *x = a, *y = b;

  if (x->number != y->number)
    return x->number > y->number ? -1 : 1;
  return onnxl_str_compare(x->name, y->name);
}

static int
by_name(const void *a, const void *b)
{
  return onnxl_str_compare(((const Group *)a)->name, ((const Group *)b)->name);
}

/* The largest first where all are numbers, else in the order of names. Fails when top needs an order that there is not.
 */
static bool
sort_groups(Group *groups, size_t n, uint32_t top, GError **error)
{
  bool numbers = true;

  for (size_t i = 0; i < n; i++)
    numbers = onnxl_expr_is_int(groups[i].upper, &groups[i].number) && numbers;
  if (!numbers && top > 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--top: the order depends on symbols (give them values: --dim NAME=N)");
  onnxl_sort(groups, n, sizeof *groups, numbers ? by_number : by_name);
  return true;
}

static bool
write_groups(Group *groups, size_t n, const char *title, uint32_t top, const OnnxlInference *inference,
             OnnxlReportFormat format, OnnxlOutput *out, GError **error)
{
  const OnnxlColumn columns[] = { { title, false }, { "nodes", true }, { "bytes", true }, { "bound", true } };

  for (size_t i = 0; i < n; i++) {
    OnnxlExpr upper = onnxl_memory_upper(inference, groups[i].bytes, NULL, NULL);
    groups[i].upper = upper ? upper : groups[i].bytes;
  }
  if (!sort_groups(groups, n, top, error))
    return false;
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns) - (format == ONNXL_FORMAT_JSON ? 0 : 1));
  for (size_t i = 0; i < n && (top == 0 || i < top); i++) {
    onnxl_table_text(table, groups[i].name);
    onnxl_table_int64(table, groups[i].n_nodes);
    onnxl_mem_table_amount(table, inference, groups[i].bytes, format);
  }
  onnxl_table_write(table, format, out);
  onnxl_table_free(table);
  return true;
}

typedef struct Named {
  OnnxlStr op;
  uint32_t node;
} Named;

static int
by_op(const void *a, const void *b)
{
  const Named *x = a, *y = b;
  int order = onnxl_str_compare(x->op, y->op);

  return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

uint32_t *
onnxl_mem_nodes_by_op(const OnnxlIndexNode *nodes, uint32_t n)
{
  g_autofree Named *named = g_new(Named, MAX(n, 1));
  uint32_t *ids = g_new(uint32_t, MAX(n, 1));

  for (uint32_t i = 0; i < n; i++)
    named[i] = (Named){ nodes[i].proto->op_type, i };
  onnxl_sort(named, n, sizeof *named, by_op);
  for (uint32_t i = 0; i < n; i++)
    ids[i] = named[i].node;
  return ids;
}

bool
onnxl_mem_report_by(const OnnxlMemory *memory, OnnxlMemBy by, uint32_t top, OnnxlReportFormat format, OnnxlOutput *out,
                    GError **error)
{
  OnnxlExprPool *pool = memory->inference->pool;
  OnnxlExpr zero = onnxl_expr_int(pool, 0);
  g_autoptr(GArray) groups = g_array_new(FALSE, TRUE, sizeof(Group));

  if (by == ONNXL_MEM_BY_TAG) {
    for (OnnxlTag tag = 0; tag < ONNXL_N_TAGS; tag++) {
      Group group = { .name = onnxl_str(tag == ONNXL_TAG_NONE ? "untagged" : onnxl_tag_name(tag)), .bytes = zero };
      for (uint32_t i = 0; i < memory->n_nodes; i++) {
        OnnxlExpr bytes = memory->nodes[i].outputs->amounts[tag];
        group.bytes = onnxl_expr_add(pool, group.bytes, bytes);
        group.n_nodes += bytes != zero;
      }
      if (group.n_nodes > 0)
        g_array_append_val(groups, group);
    }
  } else {
    const OnnxlIndexNode *nodes = memory->inference->index->nodes;
    g_autofree uint32_t *ids = onnxl_mem_nodes_by_op(nodes, memory->n_nodes);
    for (uint32_t first = 0, last; first < memory->n_nodes; first = last) {
      Group group = { .name = nodes[ids[first]].proto->op_type, .bytes = zero };
      for (last = first; last < memory->n_nodes && onnxl_str_equal(nodes[ids[last]].proto->op_type, group.name); last++)
        group.bytes = onnxl_expr_add(pool, group.bytes, memory->nodes[ids[last]].output_allocation);
      group.n_nodes = last - first;
      g_array_append_val(groups, group);
    }
  }
  return write_groups((Group *)groups->data, groups->len, by == ONNXL_MEM_BY_OP ? "op" : "tag", top, memory->inference,
                      format, out, error);
}

typedef struct Total {
  uint32_t node;
  int64_t bytes;
} Total;

static int
by_total(const void *a, const void *b)
{
  const Total *x = a, *y = b;

  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

bool
onnxl_mem_top(const OnnxlMemory *memory, uint32_t top, uint32_t **ret_rows, uint32_t *ret_n, GError **error)
{
  /* The largest so far and some candidates, so that few rows of many do not need a sort of all. */
  size_t keep = MIN(top, memory->n_nodes), room = 2 * keep + 64, n = 0;
  g_autofree Total *totals = g_new(Total, room);
  int64_t least = INT64_MIN; /* that has to be passed, since as many rows as are wanted have it */

  for (uint32_t i = 0; i < memory->n_nodes; i++) {
    Total total = { i, 0 };
    OnnxlExpr upper = onnxl_memory_upper(memory->inference, memory->nodes[i].total, NULL, NULL);
    if (!onnxl_expr_is_int(upper ? upper : memory->nodes[i].total, &total.bytes))
      return onnxl_fail(error, ONNXL_ERROR_USAGE,
                        "--top: the order depends on the total of node %u, %s (give symbols values: --dim NAME=N)", i,
                        onnxl_expr_text(memory->inference->pool, memory->nodes[i].total).data);
    if (total.bytes <= least)
      continue;
    totals[n++] = total;
    if (n == room) {
      onnxl_sort(totals, n, sizeof *totals, by_total);
      n = keep;
      least = totals[n - 1].bytes;
    }
  }
  onnxl_sort(totals, n, sizeof *totals, by_total);
  *ret_n = (uint32_t)keep;
  *ret_rows = g_new(uint32_t, MAX(keep, 1));
  for (size_t i = 0; i < keep; i++)
    (*ret_rows)[i] = totals[i].node;
  return true;
}
