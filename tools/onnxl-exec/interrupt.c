/* Ctrl-C ends a run at its next node, so that logs and outputs are whole; a second one ends the process at once. */
#include <signal.h>

#include "exec.h"

volatile sig_atomic_t interrupt_signal;

static const int signals[] = { SIGINT, SIGTERM };
static struct sigaction outer[G_N_ELEMENTS(signals)]; /* what the frame of the tools does */

static void
end_at_next_node(int number)
{
  if (interrupt_signal == 0) {
    interrupt_signal = number;
    return;
  }
  for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
    if (signals[i] == number)
      outer[i].sa_handler(number);
}

void
interrupt_catch(void)
{
  struct sigaction action = { .sa_handler = end_at_next_node, .sa_flags = SA_RESTART };
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
    /* What the caller had ignored stays so. */
    if (sigaction(signals[i], NULL, &outer[i]) == 0 && outer[i].sa_handler != SIG_IGN && outer[i].sa_handler != SIG_DFL)
      sigaction(signals[i], &action, NULL);
}

void
interrupt_release(void)
{
  for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
    sigaction(signals[i], &outer[i], NULL);
}

void
interrupt_pass_on(void)
{
  if (interrupt_signal != 0)
    raise(interrupt_signal);
}
