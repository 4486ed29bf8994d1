/* The main graph as a problem of order: nodes that make and need buffers of known sizes, and what a sequence of them
 * costs. */
#ifndef ONNXL_MEMORY_SCHEDULE_INTERNAL_H
#define ONNXL_MEMORY_SCHEDULE_INTERNAL_H

#include "memory/profile.h"

/* "output may be written over input", in the order in which the plan tries them. */
typedef struct SchedulePair {
  uint32_t out, in;
} SchedulePair;

typedef struct ScheduleNode {
  const uint32_t *needs; /* value ids of the main graph, each once; also what nested graphs capture */
  const uint32_t *makes;
  const SchedulePair *pairs;
  uint32_t n_needs, n_makes, n_pairs;
  int64_t scratch;
} ScheduleNode;

typedef struct ScheduleValue {
  int64_t bytes;
  uint32_t producer; /* ONNXL_NONE: there from the start */
  uint32_t n_users;  /* nodes that need it */
  const uint32_t *users;
  bool mortal; /* its bytes are free again after the last user */
} ScheduleValue;

typedef struct Schedule {
  const ScheduleNode *nodes;
  const ScheduleValue *values;
  uint32_t n_nodes, n_values;
} Schedule;

/* lookup: a value for each symbol. Sizes that are not known count 0. Returns: in the arena; NULL with
 * ONNXL_ERROR_LIMIT. */
const Schedule *schedule_new(const OnnxlMemory *memory, OnnxlInplace inplace, OnnxlExprLookup lookup, void *data,
                             OnnxlArena *arena, GError **error);

/* A run of the schedule so far. */
typedef struct ScheduleRun {
  const Schedule *schedule;
  uint32_t *left; /* by value id: users that have not run */
  int64_t live;
} ScheduleRun;

/* left: room for n_values. */
void schedule_start(ScheduleRun *run, const Schedule *schedule, uint32_t *left);

/* Runs a node whose needs are there. Returns: the bytes that are live meanwhile. */
int64_t schedule_step(ScheduleRun *run, uint32_t node);

/* What the next call of schedule_step() would return, and how live would change. */
int64_t schedule_look(const ScheduleRun *run, uint32_t node, int64_t *ret_change);

/* Takes back a step, the last one first. change: as schedule_look() had it. */
void schedule_undo(ScheduleRun *run, uint32_t node, int64_t change);

/* The largest step of an order of all nodes. steps: room for each, or NULL. left: room for n_values. */
int64_t schedule_peak(const Schedule *schedule, const uint32_t *order, int64_t *steps, uint32_t *left);

#endif
