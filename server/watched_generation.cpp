#include "server/watched_generation.h"

namespace headwater::server {
namespace {

class WatchedGeneration : public Generation {
 public:
  WatchedGeneration(std::unique_ptr<Generation> generation, Listener& listener, int count)
      : inner_(std::move(generation)), listener_(listener), count_(count) {}

  const Description& prompt() const override { return inner_->prompt(); }
  const Description* source() const override { return inner_->source(); }
  void read_source(Fuse fuse, const Visit& visit) override { inner_->read_source(fuse, visit); }
  const std::vector<int>& continuation() const override { return inner_->continuation(); }
  void reserve(int more) override { inner_->reserve(more); }
  std::span<const float> logits() const override { return inner_->logits(); }
  bool ends(int id) const override { return inner_->ends(id); }
  std::string token(int id) const override { return inner_->token(id); }
  std::vector<std::string> notes() const override { return inner_->notes(); }
  std::string text(std::span<const int> ids) const override { return inner_->text(ids); }
  std::vector<SpanRelevance> relevance(std::span<const int> generated, std::span<const Range> spans,
                                       RelevanceRule rule, WordScore score) override {
    return inner_->relevance(generated, spans, rule, score);
  }

  // The first call reads the prompt, the others one token each.
  void read(std::span<const int> ids, Fuse fuse, const Visit& visit, const Visit& across) override {
    if (begun_) {
      written_.insert(written_.end(), ids.begin(), ids.end());
      listener_.text(inner_->text(written_));
    }
    begun_ = true;
    listener_.progress("token", static_cast<int64_t>(written_.size()), count_);
    inner_->read(ids, fuse, visit, across);
  }

 private:
  std::unique_ptr<Generation> inner_;
  Listener& listener_;
  int count_;
  bool begun_ = false;
  std::vector<int> written_;
};

}  // namespace

std::unique_ptr<Generation> watched(std::unique_ptr<Generation> generation, Listener& listener,
                                    int count) {
  return std::make_unique<WatchedGeneration>(std::move(generation), listener, count);
}

}  // namespace headwater::server
