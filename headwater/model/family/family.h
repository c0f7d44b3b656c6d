// The model families: each is one function from config.json to an Architecture, in its own file,
// and a line in families.cpp.
#pragma once
#include "headwater/model/architecture.h"

namespace headwater::family {

Architecture bert(const Config& config);
Architecture roberta(const Config& config);
Architecture mpnet(const Config& config);
Architecture modernbert(const Config& config);
Architecture deberta_v2(const Config& config);
Architecture distilbert(const Config& config);
Architecture electra(const Config& config);
Architecture albert(const Config& config);
Architecture t5(const Config& config);
Architecture t5_decoder(const Config& config);
Architecture bart(const Config& config);
Architecture bart_decoder(const Config& config);
Architecture gpt2(const Config& config);
Architecture llama(const Config& config);
Architecture mistral(const Config& config);
Architecture qwen2(const Config& config);
Architecture qwen3(const Config& config);
Architecture phi3(const Config& config);
Architecture smollm3(const Config& config);
Architecture gpt_neox(const Config& config);
Architecture opt(const Config& config);
Architecture olmo2(const Config& config);
Architecture gemma2(const Config& config);
Architecture gemma3_text(const Config& config);
Architecture clip_text(const Config& config);
Architecture clip_image(const Config& config);
Architecture clip_text_model(const Config& config);
Architecture clip_vision_model(const Config& config);
Architecture siglip_text(const Config& config);
Architecture siglip_image(const Config& config);
Architecture siglip_text_model(const Config& config);
Architecture siglip_vision_model(const Config& config);
Architecture vit(const Config& config);
Architecture deit(const Config& config);
Architecture dinov2(const Config& config);
Architecture dinov2_with_registers(const Config& config);

}  // namespace headwater::family
