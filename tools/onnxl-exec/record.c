/* --record OUT: the model with the types and dims that the run met. */
#include "exec.h"
#include "proto/save.h"
#include "runtime/value-type.h"
#include "support/error.h"

typedef struct Record {
  Observer observer;
  OnnxlRun *run;
  OnnxlModel *model;
  const OnnxlIndex *index;
  OnnxlOutputFile file;
  bool open;
  OnnxlType **met;    /* by value id; in the model's arena, NULL: not computed */
  GHashTable *graphs; /* graph, from 1, by path */
  GHashTable *values; /* value, from 1, by "GRAPH NAME" */
} Record;

static guint
find_value(const Record *record, const OnnxlEvent *event)
{
  guint graph = GPOINTER_TO_UINT(g_hash_table_lookup(record->graphs, onnxl_event_graph(event)));
  if (graph == 0)
    return 0; /* in a function, which has no dims of its own */
  g_autofree char *key = g_strdup_printf("%u %.*s", graph - 1, ONNXL_ARG(event->name));
  return GPOINTER_TO_UINT(g_hash_table_lookup(record->values, key));
}

/* A value in the body of a loop keeps the dims that are the same in every trip. */
static void
merge_dims(OnnxlTensorType *type, const OnnxlValue *value)
{
  if (!type || !type->shape)
    return;
  if (type->shape->dim.count != value->rank)
    type->shape = NULL;
  for (uint32_t i = 0; type->shape && i < value->rank; i++)
    if (type->shape->dim.items[i].dim_value != value->dims[i])
      type->shape->dim.items[i].has_dim_value = false;
}

static bool
record_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  Record *record = (Record *)observer;
  guint id = event->action == ONNXL_EVENT_ADD ? find_value(record, event) : 0;
  if (id == 0)
    return true;
  OnnxlType **type = &record->met[id - 1];
  if (*type)
    merge_dims((*type)->tensor_type, event->value);
  else if (!(*type = onnxl_value_type(event->value, record->model->arena)))
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the recorded model needs more metadata than --max-metadata allows");
  return true;
}

/* Containers say more in a declaration, which stays, than one of their values does. */
static bool
is_declared_container(const OnnxlType *type)
{
  return type && (type->sequence_type || type->optional_type || type->map_type || type->opaque_type);
}

/* Values without an entry get one behind those of their graph. */
static bool
add_entries(Record *record, const uint32_t *counts)
{
  const OnnxlIndex *index = record->index;
  OnnxlArena *arena = record->model->arena;
  OnnxlValueInfo **next = ONNXL_NEW_ARRAY(arena, OnnxlValueInfo *, index->n_graphs);
  for (uint32_t g = 0; next && g < index->n_graphs; g++)
    if (counts[g] > 0 &&
        !(next[g] = ONNXL_EXTEND(arena, &((OnnxlGraph *)index->graphs[g].proto)->value_info, counts[g])))
      return false;
  for (uint32_t v = 0; next && v < index->n_values; v++) {
    const OnnxlIndexValue *value = &index->values[v];
    if (!record->met[v] || value->info || value->kind != ONNXL_VALUE_NODE_OUTPUT)
      continue;
    next[value->graph]->name = value->name;
    next[value->graph]++->type = record->met[v];
  }
  return next != NULL;
}

static bool
fill_model(Record *record, GError **error)
{
  const OnnxlIndex *index = record->index;
  uint32_t *counts = ONNXL_NEW_ARRAY(record->model->arena, uint32_t, index->n_graphs);
  for (uint32_t v = 0; counts && v < index->n_values; v++) {
    const OnnxlIndexValue *value = &index->values[v];
    OnnxlType *type = record->met[v];
    if (!type)
      continue;
    /* The index is of this very model. */
    if (value->info && !is_declared_container(value->info->type))
      ((OnnxlValueInfo *)value->info)->type = type;
    counts[value->graph] += !value->info && value->kind == ONNXL_VALUE_NODE_OUTPUT;
  }
  return (counts && add_entries(record, counts)) ||
         onnxl_fail(error, ONNXL_ERROR_LIMIT, "the recorded model needs more metadata than --max-metadata allows");
}

static bool
record_finish(Observer *observer, bool completed, OnnxlOutput *out, GError **error)
{
  Record *record = (Record *)observer;
  const OnnxlCommonOptions *common = &record->run->common;
  if (!completed)
    return true;
  if (!fill_model(record, error) || !onnxl_model_save(record->model, &record->file.out, exec_options.record,
                                                      common->text, common->allow_large, error))
    return false;
  record->open = false;
  return onnxl_output_file_commit(&record->file, error);
}

static void
record_free(Observer *observer)
{
  Record *record = (Record *)observer;
  if (record->open)
    onnxl_output_file_abort(&record->file);
  g_hash_table_destroy(record->graphs);
  g_hash_table_destroy(record->values);
  g_free(record->met);
  g_free(record);
}

bool
record_new(OnnxlRun *run, const Session *session, Observer **ret_observer, GError **error)
{
  if (!exec_options.record)
    return true;
  const OnnxlIndex *index = session->plan->main->index;
  Record *record = g_new0(Record, 1);
  record->observer = (Observer){ .event = record_event,
                                 .finish = record_finish,
                                 .free = record_free,
                                 .nested = true,
                                 .takes_stdout = strcmp(exec_options.record, "-") == 0 };
  record->run = run;
  record->model = session->model;
  record->index = index;
  record->met = g_new0(OnnxlType *, index->n_values);
  record->graphs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  record->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  *ret_observer = &record->observer;
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  for (uint32_t g = 0; g < index->n_graphs; g++)
    g_hash_table_insert(record->graphs, g_strdup(g == 0 ? "" : onnxl_index_graph_path(index, g, arena)),
                        GUINT_TO_POINTER(g + 1));
  onnxl_arena_free(arena);
  for (uint32_t v = 0; v < index->n_values; v++)
    g_hash_table_insert(record->values,
                        g_strdup_printf("%u %.*s", index->values[v].graph, ONNXL_ARG(index->values[v].name)),
                        GUINT_TO_POINTER(v + 1));
  /* Before the run: a file that cannot be written should not cost one. */
  record->open =
    onnxl_output_file_open(&record->file, exec_options.record, run->common.text ? 0 : ONNXL_OUTPUT_BINARY, error);
  return record->open;
}
