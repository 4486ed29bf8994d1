/* Rules for models that are spread over devices: configurations, and the nodes that refer to them. */
#include "check/check-internal.h"

static void
configurations(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  bool added;

  check->configurations = onnxl_map_new(check->arena, check->proto->configuration.count);
  for (size_t i = 0; i < check->proto->configuration.count; i++) {
    const OnnxlDevice *c = &check->proto->configuration.items[i];
    if (c->name.size == 0)
      onnxl_check_report(check, at, ONNXL_DIAG_DEVICE, "configuration %zu has no name", i);
    else if (!onnxl_map_put(&check->configurations, c->name, (uint32_t)i, &added))
      onnxl_check_exhausted(check);
    else if (!added)
      onnxl_check_report(check, at, ONNXL_DIAG_DEVICE, "two configurations are named '%.*s'", ONNXL_ARG(c->name));
    if (c->num_devices < 1)
      onnxl_check_report(check, at, ONNXL_DIAG_DEVICE, "configuration '%.*s' has %d devices when 1 is the least",
                         ONNXL_ARG(c->name), c->num_devices);
    else if (c->device.count > 0 && c->device.count != (size_t)c->num_devices)
      onnxl_check_report(check, at, ONNXL_DIAG_DEVICE, "configuration '%.*s' names %zu devices when it has %d",
                         ONNXL_ARG(c->name), c->device.count, c->num_devices);
  }
}
ONNXL_RULE(configurations, ON(MODEL), NO_NEEDS, ONNXL_DIAG_DEVICE);

static OnnxlStr
key_of(OnnxlCheck *check, int64_t device)
{
  return onnxl_arena_printf(check->body->arena, "%" G_GINT64_FORMAT, device);
}

static void
check_device(OnnxlCheck *check, const OnnxlCheckPlace *at, const OnnxlDevice *c, int64_t device)
{
  if (device < 0 || device >= c->num_devices)
    onnxl_check_report(check, at, ONNXL_DIAG_DEVICE,
                       "device %" G_GINT64_FORMAT " is not among the %d of configuration '%.*s'", device,
                       c->num_devices, ONNXL_ARG(c->name));
}

/* A device of the list may stand for a group of them. */
static void
check_devices(OnnxlCheck *check, const OnnxlCheckPlace *at, const OnnxlDevice *c, const OnnxlShardingSpec *spec)
{
  OnnxlMap groups = onnxl_map_new(check->body->arena, spec->index_to_device_group_map.count);

  for (size_t i = 0; i < spec->index_to_device_group_map.count; i++) {
    const OnnxlIntIntList *group = &spec->index_to_device_group_map.items[i];
    onnxl_check_add(check, &groups, key_of(check, group->key));
    for (size_t k = 0; k < group->value.count; k++)
      check_device(check, at, c, group->value.items[k]);
  }
  for (size_t i = 0; i < spec->device.count; i++)
    if (groups.count == 0 || onnxl_map_get(&groups, key_of(check, spec->device.items[i])) == ONNXL_MAP_NONE)
      check_device(check, at, c, spec->device.items[i]);
}

static void
check_spec(OnnxlCheck *check, const OnnxlCheckPlace *at, const OnnxlMap *operands, const OnnxlDevice *c,
           const OnnxlShardingSpec *spec)
{
  if (onnxl_map_get(operands, spec->tensor_name) == ONNXL_MAP_NONE)
    onnxl_check_report(check, at, ONNXL_DIAG_DEVICE, "'%.*s' is sharded, but no input or output of the node",
                       ONNXL_ARG(spec->tensor_name));
  check_devices(check, at, c, spec);
  for (size_t i = 0; i < spec->sharded_dim.count; i++)
    for (size_t k = 0; k < spec->sharded_dim.items[i].simple_sharding.count; k++) {
      const OnnxlSimpleShardedDim *part = &spec->sharded_dim.items[i].simple_sharding.items[k];
      if (part->num_shards < 1)
        onnxl_check_report(check, at, ONNXL_DIAG_DEVICE,
                           "axis %" G_GINT64_FORMAT " of '%.*s' is cut into %" G_GINT64_FORMAT
                           " shards when 1 is the least",
                           spec->sharded_dim.items[i].axis, ONNXL_ARG(spec->tensor_name), part->num_shards);
    }
}

static void
node_devices(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlStrList *const lists[] = { &at->node->input, &at->node->output };

  if (at->node->device_configurations.count == 0)
    return;
  OnnxlMap operands = onnxl_map_new(check->body->arena, at->node->input.count + at->node->output.count);
  for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
    for (size_t k = 0; k < lists[i]->count; k++)
      if (lists[i]->items[k].size > 0)
        onnxl_check_add(check, &operands, lists[i]->items[k]);
  for (size_t i = 0; i < at->node->device_configurations.count; i++) {
    const OnnxlNodeDevice *used = &at->node->device_configurations.items[i];
    uint32_t id = onnxl_map_get(&check->configurations, used->configuration_id);
    if (id == ONNXL_MAP_NONE)
      onnxl_check_report(check, at, ONNXL_DIAG_DEVICE, "the model has no configuration '%.*s'",
                         ONNXL_ARG(used->configuration_id));
    for (size_t k = 0; id != ONNXL_MAP_NONE && k < used->sharding_spec.count; k++)
      check_spec(check, at, &operands, &check->proto->configuration.items[id], &used->sharding_spec.items[k]);
  }
}
ONNXL_RULE(node_devices, ON(NODE), NEEDS(configurations), ONNXL_DIAG_DEVICE);
