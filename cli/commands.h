// The commands, one function and one file each. Each throws Error and returns nothing: main says
// how it ended.
#pragma once
#include "cli/arguments.h"

namespace headwater::cli {

void run_rollout(const Arguments& arguments);
void run_flow(const Arguments& arguments);
void run_generate(const Arguments& arguments);
void run_raw(const Arguments& arguments);
void run_average(const Arguments& arguments);
void run_gradient(const Arguments& arguments);
void run_evaluate(const Arguments& arguments);
void run_metrics(const Arguments& arguments);
void run_compare(const Arguments& arguments);
void run_info(const Arguments& arguments);
void run_demo(const Arguments& arguments);

}  // namespace headwater::cli
