// What conda and mamba would choose: libsolv with its rules for conda, asked as these ask it.
//
//   solve REPODATA < requests
//
// A request is a line: `__cuda=13.0,__glibc=2.40; torch-fl; python 3.11.*`, what the machine has and then what is asked for. The answer
// is a line: name=version=build of each package, or UNSAT.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conda.h"
#include "pool.h"
#include "repo.h"
#include "repo_conda.h"
#include "repodata.h"
#include "solver.h"

// A virtual package is an installed one that has nothing in it.
static void add_detected(Repo *repo, Repodata *data, char *pair) {
  char *version = strchr(pair, '=');
  if (!version) return;
  *version++ = 0;
  Id id = repo_add_solvable(repo);
  Solvable *package = pool_id2solvable(repo->pool, id);
  package->name = pool_str2id(repo->pool, pair, 1);
  package->evr = pool_str2id(repo->pool, version, 1);
  package->arch = ARCH_NOARCH;
  package->provides = repo_addid_dep(repo, package->provides, pool_rel2id(repo->pool, package->name, package->evr, REL_EQ, 1), 0);
  repodata_add_poolstr_array(data, id, SOLVABLE_BUILDFLAVOR, "0");
  repodata_set_str(data, id, SOLVABLE_BUILDVERSION, "0");
}

static void answer(Pool *pool, Repo *machine, Queue *job) {
  Solver *solver = solver_create(pool);
  solver_set_flag(solver, SOLVER_FLAG_ALLOW_DOWNGRADE, 1);
  solver_set_flag(solver, SOLVER_FLAG_STRICT_REPO_PRIORITY, 1);
  if (solver_solve(solver, job)) {
    puts("UNSAT");
  } else {
    Queue chosen;
    queue_init(&chosen);
    Transaction *transaction = solver_create_transaction(solver);
    transaction_installedresult(transaction, &chosen);
    for (int i = 0; i < chosen.count; i++) {
      Solvable *package = pool_id2solvable(pool, chosen.elements[i]);
      if (package->repo != machine)
        printf("%s=%s=%s ", pool_id2str(pool, package->name), pool_id2str(pool, package->evr),
               solvable_lookup_str(package, SOLVABLE_BUILDFLAVOR));
    }
    puts("");
    transaction_free(transaction);
    queue_free(&chosen);
  }
  solver_free(solver);
}

int main(int count, char **arguments) {
  char line[8192];
  while (count == 2 && fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    Pool *pool = pool_create();
    pool_setdisttype(pool, DISTTYPE_CONDA);
    FILE *file = fopen(arguments[1], "r");
    Repo *channel = repo_create(pool, "channel"), *machine = repo_create(pool, "machine");
    if (!file || repo_add_conda(channel, file, 0)) {
      fprintf(stderr, "%s cannot be read: %s\n", arguments[1], pool_errstr(pool));
      return 1;
    }
    fclose(file);
    Repodata *data = repo_add_repodata(machine, 0);
    char *rest = line, *detected = strsep(&rest, ";"), *part;
    while ((part = strsep(&detected, ","))) add_detected(machine, data, part);
    Queue job;
    queue_init(&job);
    while ((part = strsep(&rest, ";"))) {
      part += strspn(part, " ");
      if (*part) queue_push2(&job, SOLVER_INSTALL | SOLVER_SOLVABLE_PROVIDES, pool_conda_matchspec(pool, part));
    }
    repodata_internalize(data);
    pool_set_installed(pool, machine);
    pool_createwhatprovides(pool);
    answer(pool, machine, &job);
    fflush(stdout);
    queue_free(&job);
    pool_free(pool);
  }
  return 0;
}
