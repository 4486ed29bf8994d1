/* Orders of a schedule: some to begin with, and one that is improved. */
#ifndef ONNXL_MEMORY_REORDER_INTERNAL_H
#define ONNXL_MEMORY_REORDER_INTERNAL_H

#include "memory/schedule-internal.h"

/* reorder-start.c: fills order with the schedule's nodes in an order in which each runs behind what it needs. */
typedef void (*OrderStart)(const Schedule *schedule, uint32_t *order);

/* The given order, but what frees nothing runs when it is needed. */
void order_late(const Schedule *schedule, uint32_t *order);
/* Of what can run, always what adds least. */
void order_greedy(const Schedule *schedule, uint32_t *order);
/* Branch after branch, the one first that needs most beyond what it leaves behind. */
void order_branches(const Schedule *schedule, uint32_t *order);

/* reorder-improve.c: rearranges the nodes around the largest step as long as that lowers the peak. */
void order_improve(const Schedule *schedule, uint32_t *order);

#endif
