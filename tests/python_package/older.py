"""What older versions of torch and transformers cannot run themselves: tests that are skipped there, by name."""
from importlib.metadata import version

from packaging.version import Version

# Package, the first version that can, what the older ones cannot, and parts of the names of the tests.
CANNOT = [
    ("torch", "2.6", "mixes no functions of masks, which Gemma 3 and PaliGemma need",
     ["patch_is_where_its_pixels_go[gemma3]", "patch_is_where_its_pixels_go[paligemma]", "test_a_text_part_with_code_of_its_own",
      "test_a_prompt_that_looks_both_ways_is_read_as_it_was["]),
    ("torch", "2.6", "has no flash attention of grouped heads on the CPU, which stands in for a GPU's",
     ["test_plain_attention_gives_its_sums_without_a_dispatch_mode", "test_gradients_masks_and_padded_heads_are_watched",
      "test_a_capture_of_the_interface_alone_is_watched", "test_nobody_is_asked_after_an_error"]),
    ("torch", "2.7", "has an NVRTC that knows no Blackwell", ["test_a_kernel_compiles[sm_100"]),
    ("matplotlib", "3.9", "shows no figure under the newest ipykernel", ["test_the_notebook_runs_and_shows_its_results"]),
    ("torch", "2.6", "cannot run a compiled model uncompiled", ["test_a_compiled_model_is_captured"]),
    ("transformers", "5.1", "reads no prompt in pieces",
     ["however_the_text_is_read[prefill_chunk_size", "test_an_output_of_a_prefill_in_pieces_is_refused"]),
    ("transformers", "5.1", "looks nothing up in the prompt of a model with windows",
     ["however_the_text_is_read[prompt_lookup_num_tokens-mistral]"]),
    ("transformers", "5.1", "assists no text with a least length",
     ["test_assisted_decoding_gives_the_rows_of_the_text_that_stayed"]),
    ("transformers", "5.1", "takes no mm_token_type_ids in generate()",
     ["test_qwens_vision_language_model_is_asked_about_its_language_stack",
      *(f"test_the_grid_of_an_image_that_generate_was_given[{k}-{name}" for k in (1, 2) for name in ("qwen2_5_vl", "qwen3_vl"))]),
    ("transformers", "5.1", "has attention of its own in ModernBERT, which the test does not replace", ["test_modernbert["]),
    ("transformers", "5.1", "gives CamemBERT other logits than later versions", ["same_folder[camembert-"]),
    ("transformers", "5.1", "builds no GPT-NeoX without a pad token", ["[neox-full-"]),
    ("transformers", "5.1", "returns no attention of CLIP's towers", ["test_towers_of_equal_length_are_not_one_stack"]),
    ("transformers", "5.15", "has no sdpa attention for T5",
     ["is_asked_about_its_encoder[t5]", "encoder_decoder_model_are_the_decoders[t5]", "follow_the_equations[t5]",
      "test_the_encoder_of_t5[", "test_an_encoder_and_a_decoder", "are_told_apart[dynamic-t5]", "are_told_apart[static-t5]",
      "test_the_beams_of_a_search_are_no_texts[t5-"]),
    ("pyarrow", "18", "casts no text to views", ["test_all_kinds_of_text_are_one[kind1]"]),
]


def reason(name):
    """Why a test cannot run here, or None."""
    for package, first, what, parts in CANNOT:
        if any(part in name for part in parts) and Version(version(package)) < Version(first):
            return f"{package} {version(package)} {what}"
    return None
