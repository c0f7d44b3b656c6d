"""Attention of a running PyTorch model, without eager attention and without heads x n x n."""
from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping, Sequence, Unpack

import torch
from torch import Tensor

from ..arguments import AskedWords, CaptureWords, OptionWords, spelled_out
from ..encoder_decoder import EncoderDecoder
from ..errors import Error
from ..generated import Generation
from ..kinds import AnyPath, ArrayIn, Mask, ModuleRules, Target
from ..protocols import Tokenizer
from ..result import Attribution, Comparison, Metrics
from .recording import Recording


def capture(model: torch.nn.Module, *, how: str | None = None, fuse: str = "mean", pattern: str | None = None,
            tokenizer: Tokenizer | None = None, attention_mask: Mask | None = None, keep: str = "inputs") -> Capture:
    """Records the attention of `model` while it runs: `with headwater.capture(model) as seen: model(**inputs)`.

    `how` is 'interface' (transformers' registry), 'sdpa' (a patch of scaled_dot_product_attention) or 'eager' (hooks
    on modules that return their weights); by default the first that works for the model, and `seen.how` says which.
    `pattern` is a regular expression; only modules whose whole name it matches are recorded. `tokenizer` names the
    tokens from the model's input_ids. `attention_mask` [B, n] says what is padding if the model is not told.
    `fuse` is how methods fuse heads unless they are asked for another way.
    `keep='inputs'` keeps Q and K of each layer: any `fuse` can be asked for later, and memory is linear in n.
    `keep='maps'` keeps one n x n map a layer, fused by `fuse`. `keep='nothing'` keeps no attention: enough for
    `.relevance()`, which runs the model again.

    The model's output, its backward pass and its fast paths stay the same. Without gradients, in float32 on the CPU,
    the engine may compute attention instead of sdpa; the output is then the same within rounding. Raises
    headwater.Error.
    """
    return Capture(model, how=how, fuse=fuse, pattern=pattern, tokenizer=tokenizer, attention_mask=attention_mask,
                   keep=keep)


class Capture(Recording):
    """The attention of a model. Run the model inside `with`, then ask for rollout, flow, average, raw, metrics,
    compare, gradient, relevance, generation or encoder_decoder.
    """

    def _asked_fuse(self, words: Mapping[str, Any]) -> dict[str, Any]:
        """The keywords with the fusion that the capture was given, unless they have one of their own."""
        given = {word: value for word, value in words.items() if word != "fuse" or value is not None}
        own = self._keep_what == "inputs" and self._fuse == "mean" or given.get("head") is not None
        return given if own else {"fuse": self._fuse, **given}

    @spelled_out
    def rollout(self, *, by_layer: bool = False, embed_layers: bool = False,
                **words: Unpack[CaptureWords]) -> Attribution:
        """`headwater.rollout` of what was recorded.

        `stack` and `call` choose among several stacks and calls: print(seen) lists them. `missing='residual'` treats
        layers whose attention could not be recorded as passing everything through.
        """
        from ..methods import rollout
        return rollout(self, by_layer=by_layer, embed_layers=embed_layers, **self._asked_fuse(words))

    @spelled_out
    def flow(self, *, column: int | None = None, by_layer: bool = False, every_layer: bool = False,
             normalise: bool = False, certify: bool = False, cut: bool = False, embed_layers: bool = False,
             progress: Callable[[int, int], None] | None = None, **words: Unpack[CaptureWords]) -> Attribution:
        """`headwater.flow` of what was recorded."""
        from ..methods import flow
        return flow(self, column=column, by_layer=by_layer or every_layer, normalise=normalise, certify=certify,
                    cut=cut, embed_layers=embed_layers, progress=progress, **self._asked_fuse(words))

    @spelled_out
    def average(self, *, embed_layers: bool = False, **words: Unpack[CaptureWords]) -> Attribution:
        """`headwater.average` of what was recorded."""
        from ..methods import average
        return average(self, embed_layers=embed_layers, **self._asked_fuse(words))

    @spelled_out
    def raw(self, *, layer: int = -1, **words: Unpack[CaptureWords]) -> Attribution:
        """`headwater.raw` of what was recorded."""
        from ..methods import raw
        return raw(self, layer=layer, **self._asked_fuse(words))

    @spelled_out
    def metrics(self, *, layer: int = -1, **words: Unpack[CaptureWords]) -> Metrics:
        """`headwater.metrics` of what was recorded."""
        from ..methods import metrics
        return metrics(self, layer=layer, **self._asked_fuse(words))

    @spelled_out
    def compare(self, other: Capture | None = None, *, by: str | None = None, layer: int = -1,
                values: Sequence[float] = (), layers_shown: Sequence[int] = (),
                **words: Unpack[CaptureWords]) -> Comparison:
        """`headwater.compare` of what was recorded."""
        from ..methods import compare
        asked: dict[str, Any] = dict(words) if by == "head" else self._asked_fuse(words)
        return compare(self, other, by=by, layer=layer, values=values, layers_shown=layers_shown, **asked)

    @spelled_out
    def maps(self, *, fuse: str | None = None, item: int = 0, **asked: Unpack[AskedWords]) -> list[Tensor]:
        """The fused maps of an item, a tensor [n, n] for each layer, with nothing added.

        With `fuse='none'` the heads stay apart, [H, n, n]; `.heads()` gives them one layer at a time.
        """
        fuse = self._fuse if fuse is None else fuse
        if fuse == "none":
            return [heads for _, heads in self.heads(item=item, **asked) or ()]
        found = self._answer(**asked)
        count = len(found.tokens)
        if not -count <= item < count:
            raise Error(f"capture: has no item {item}, expected 0 to {count - 1} (or -1 for the last); choose another")
        item, rows = range(count)[item], found.rows()
        return [rows(item, layer, fuse, 0, len(found.tokens[item])) for layer in range(len(found.records))]

    @spelled_out
    def heads(self, into: Callable[[int, Tensor], None] | AnyPath | None = None, *, item: int = 0,
              **asked: Unpack[AskedWords]) -> Iterator[tuple[int, Tensor]] | None:
        """Every head of every layer of an item, [H, n, n], one layer at a time: (layer, heads), in order.

        With `into` they go to a function of layer and heads, or to a .npz file with one array for each layer.
        """
        from .all_heads import each_layer, stream
        found = self._answer(**asked)
        if not -len(found.tokens) <= item < len(found.tokens):
            raise Error(f"capture: has no item {item}, expected 0 to {len(found.tokens) - 1} (or -1 for the last); "
                        "choose another")
        item = range(len(found.tokens))[item]
        layers = each_layer(found, item)
        if into is None:
            return layers
        stream(layers, into, found.tokens[item])
        return None

    @spelled_out
    def gradient(self, target: Target = "best", *, rule: str = "gradient", layer: int | None = None,
                 position: int | None = None, **words: Unpack[CaptureWords]) -> Attribution:
        """Gradient x attention for an output of the model: [n, n] for each item.

        `target` is the output: a class or token (a number, or one for each item), a class by its name in the model's
        config, 'best' (the largest logit), or a function of the model's output that returns one number, or one for
        each item. If the model has logits for every token, `position` says whose (default: the last real one). `rule`
        is 'gradient', 'gradient-rollout' or 'chefer'; `layer` chooses one layer. The result has `.rule` and `.target`.
        """
        from .gradient import gradient
        return gradient(self, target, rule=rule, layer=layer, position=position, **self._asked_fuse(words))

    @spelled_out
    def relevance(self, target: Target = "best", *, against: str | int | None = None, rule: str = "frozen",
                  row: int | str | None = None, by_layer: bool = False, heads: bool = False, edges: int | None = None,
                  steps: int | None = None, baseline: str | int = "", rules: ModuleRules | None = None, item: int | None = None,
                  **asked: Unpack[AskedWords]) -> Attribution:
        """Which input tokens an output of the model comes from, for and against: [n], signed; [B, n] for a batch.

        The recorded pass is run again and differentiated once, in a network that passes gradients back by the rules of
        docs/methods.md, around the model's own attention kernel. Norms, activations, gates and attention are found by
        what they compute; a part that the rules do not know raises headwater.Error with its name. `rules` says what such
        a part is, by its name (with * for any part of it) or class: 'linear' (its derivative as it is), 'constant'
        (nothing passes through it) or 'factor' (its output divided by its input is a constant).

        `target` is the output: a class or token by number or name, 'best' (the largest logit), 'start:K' or 'end:K' of
        an answer, or a function of the model's output that returns one number; of a batch, also a list of these. The
        logit of `against` is subtracted.
        `row` is the token whose logit is meant, where every token has some; by default the last, or the only mask.
        `rule` is 'frozen', 'attnlrp' or 'integrated' (integrated gradients in `steps` steps, default 20, from `baseline`:
        'mask', 'zero' or a token). `by_layer` gives [1 + L, n]: the input, then after each layer. The result's
        `relevance` has the target, the output, the sum and what biases take; with `heads`, `result.heads` [L, H] is the
        share of each head; with `edges=K`, `result.edges` [n, n] what each output token of layer K took from each
        input token. `tokens`, `attention_mask`, `stack` and `call` are those of the other methods. Raises
        headwater.Error.
        """
        from .relevance import Question, relevance
        question = Question(target, against, rule, row, by_layer, heads, edges, steps, baseline, {} if rules is None else rules)
        return relevance(self, question, item, **asked)

    @spelled_out
    def generation(self, *, prompt: Sequence[str] | None = None, generated: Sequence[str] | None = None,
                   attention_mask: Mask | None = None, item: int | None = None, position: str = "predicting",
                   beam_indices: ArrayIn | None = None, call: int | None = None, **words: Unpack[OptionWords]) -> Generation:
        """`headwater.generation` of a captured generate(): a row over the prompt for every new token.

        `call` chooses among several generate(), `item` among the texts of a batch.
        """
        from .generation import generation
        return generation(self, prompt, generated, attention_mask, item, position, beam_indices, call,
                          self._asked_fuse(words))

    @spelled_out
    def encoder_decoder(self, *, source_tokens: Sequence[str] | None = None,
                        target_tokens: Sequence[str] | None = None, attention_mask: Mask | None = None,
                        decoder_attention_mask: Mask | None = None, item: int | None = None,
                        beam_indices: ArrayIn | None = None, call: int | None = None, **words: Unpack[OptionWords]) -> EncoderDecoder:
        """`headwater.encoder_decoder` of what was recorded: decoder rows over target and source tokens.

        `call` chooses among several passes or generate().
        """
        from .generation import encoder_decoder
        return encoder_decoder(self, source_tokens, target_tokens, attention_mask, decoder_attention_mask, item,
                               beam_indices, call, self._asked_fuse(words))
