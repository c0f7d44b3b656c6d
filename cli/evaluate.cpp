#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/progress.h"
#include "headwater/core/fail.h"
#include "headwater/evaluate_model.h"

namespace headwater::cli {

void run_evaluate(const Arguments& arguments) {
  for (const std::string& path : arguments.outputs)
    if (path.ends_with(".npy"))
      fail_usage("{}: evaluate gives several arrays, expected another ending; use .npz", path);
  check_outputs(arguments);
  ModelEvaluation what = arguments.evaluation;
  what.options = arguments.options;
  what.filter = arguments.filter;
  what.faithfulness = arguments.faithfulness;
  ProgressBar bar("example");
  what.progress = [&](int64_t done, int64_t examples) { bar.show(done, examples); };
  std::vector<Result> results;
  results.emplace_back(evaluate(arguments.source, what));
  deliver(results, arguments);
}

}  // namespace headwater::cli
