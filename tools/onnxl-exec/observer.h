/* What watches a run: the event log, the profile, checks. Each observer lives in a file of its own, is made when its
 * options ask for it, sees the events as they happen, and says at the end what it saw. */
#ifndef ONNXL_EXEC_OBSERVER_H
#define ONNXL_EXEC_OBSERVER_H

#include "cli/main.h"
#include "runtime/event.h"

struct Session;

/* The head of every observer; the file that makes one puts its own members behind it. */
typedef struct Observer Observer;
struct Observer {
  /* Called for each event of the last run, or of every run. False with error stops the run. */
  bool (*event)(Observer *observer, const OnnxlEvent *event, GError **error);
  /* Called once at the end, also when the run failed (completed is false then); reports go to out. NULL: nothing to
   * say. */
  bool (*finish)(Observer *observer, bool completed, OnnxlOutput *out, GError **error);
  void (*free)(Observer *observer);
  bool nested;       /* events of nested graphs and function bodies, too */
  bool takes_stdout; /* standard output is this observer's, so that the outputs are not printed */
  bool every_run;    /* sees every run that counts (--repeat), not only the last */
};

/* Makes an observer for a session that is open. *ret_observer: NULL when no option asks for it; owned, also when it
 * failed. */
typedef bool ObserverNew(OnnxlRun *run, const struct Session *session, Observer **ret_observer, GError **error);

ObserverNew events_new;       /* --events */
ObserverNew watch_new;        /* --watch */
ObserverNew expect_new;       /* --expect */
ObserverNew record_new;       /* --record */
ObserverNew values_new;       /* --check-values, --fail-on */
ObserverNew check_shapes_new; /* --check-shapes */
ObserverNew profile_new;      /* --profile */
ObserverNew trace_new;        /* --trace */
ObserverNew plot_new;         /* --plot */

#endif
