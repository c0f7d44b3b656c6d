// Answers by models that this process opened, and by files that are dropped on the page.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headwater/model/model.h"
#include "headwater/result/result.h"
#include "headwater/source/source.h"
#include "server/answerer.h"

namespace headwater::server {

class ServedModels : public Answerer {
 public:
  /// Opens the models, once for all questions. Throws Error as open_model() does.
  explicit ServedModels(const std::vector<std::string>& names);

  std::string menu() override;
  std::string answer(const Question& question, Listener& listener) override;

 private:
  struct Served {
    std::string name;
    std::shared_ptr<const Model> model;
    bool has_targets = false;         // logits to ask about
    std::vector<std::string> texts;   // examples
    std::vector<std::string> images;  // paths of examples
  };
  const Served& find(const std::string& name) const;
  std::string answer_by_model(const Question& question, Listener& listener);

  std::vector<Served> models_;
};

}  // namespace headwater::server
