#include "headwater/model/map_rows.h"

#include "headwater/model/head_map.h"
#include "headwater/model/places.h"

namespace headwater {

void put_map_rows(const Model& model, int layer, MatrixView queries, MatrixView keys,
                  const Fuse& fuse, int first, MatrixSpan rows) {
  const Architecture& shape = model.architecture();
  const LayerWeights& weights = model.layer(layer);
  kernel::Attention attention;
  attention.queries = queries.rows(first, rows.rows());
  attention.keys = keys;
  attention.heads = shape.heads;
  attention.groups = shape.groups;
  attention.scale = weights.scale;
  attention.sight = {shape.causal, weights.window, first};
  attention.cap = shape.cap;
  const Matrix distances = model.distances(keys.rows());
  attention.distances = distances;
  PlaceScores places(model.places(), keys.rows());
  attention.buckets = places.run(layer, attention.queries, attention.keys);
  kernel::attention(attention, {}, head_map(fuse, shape.heads, layer, model.name(), rows));
}

}  // namespace headwater
