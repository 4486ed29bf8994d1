#include "proto/model.h"

#include "support/size.h"

OnnxlModel *
onnxl_model_new(size_t budget)
{
  OnnxlModel *model = g_new0(OnnxlModel, 1);

  model->arena = onnxl_arena_new(budget);
  model->folder = g_strdup(".");
  return model;
}

void
onnxl_model_free(OnnxlModel *model)
{
  if (!model)
    return;
  onnxl_arena_free(model->arena);
  onnxl_file_free(model->file);
  if (model->data_files)
    g_ptr_array_unref(model->data_files);
  g_free(model->folder);
  g_free(model);
}

const OnnxlFile *
onnxl_model_file_of(const OnnxlModel *model, OnnxlStr bytes, uint64_t *ret_offset)
{
  if (model->file && onnxl_file_locate(model->file, bytes, ret_offset))
    return model->file;
  for (guint i = 0; model->data_files && i < model->data_files->len; i++) {
    const OnnxlFile *file = g_ptr_array_index(model->data_files, i);
    if (onnxl_file_locate(file, bytes, ret_offset))
      return file->fd >= 0 ? file : NULL;
  }
  return NULL;
}

void *
onnxl_list_extend(OnnxlArena *arena, void **items, size_t *count, size_t item_size, size_t n)
{
  size_t total;
  void *grown = onnxl_size_add(*count, n, &total) ? onnxl_arena_array(arena, total, item_size) : NULL;

  if (!grown)
    return NULL;
  if (*count > 0)
    memcpy(grown, *items, *count * item_size);
  void *added = (char *)grown + *count * item_size;
  *items = grown;
  *count = total;
  return added;
}

const OnnxlAttribute *
onnxl_node_attribute(const OnnxlNode *node, const char *name)
{
  OnnxlStr wanted = onnxl_str(name);

  for (size_t i = 0; i < node->attribute.count; i++)
    if (onnxl_str_equal(node->attribute.items[i].name, wanted))
      return &node->attribute.items[i];
  return NULL;
}

OnnxlStr
onnxl_domain_normal(OnnxlStr domain)
{
  return onnxl_str_is(domain, "ai.onnx") || !domain.data ? ONNXL_STR("") : domain;
}
