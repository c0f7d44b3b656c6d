"""PyTorch and transformers as people run models today: no_grad, sdpa attention, models with random weights."""
import os
import resource
import sys
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch
import transformers

transformers.logging.disable_progress_bar()

# What a person would type for the rollout of one text, from nothing. Attention maps need the eager attention.
COLD = """
import sys, json, torch
from transformers import AutoModel, AutoTokenizer
folder, text, threads = sys.argv[1:]
torch.set_num_threads(int(threads))
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
with torch.no_grad():
    layers = model(**tokenizer(text, return_tensors="pt"), output_attentions=True).attentions
rollout = None
for layer in layers:
    mixed = (layer[0].mean(0) + torch.eye(layer.shape[-1])) / 2
    mixed = mixed / mixed.sum(-1, keepdim=True)
    rollout = mixed if rollout is None else mixed @ rollout
print(json.dumps(rollout.tolist()))
"""


def make(kind, folder):
    """A model of the usual shape with random weights, saved once."""
    if (folder / "config.json").exists():
        return
    torch.manual_seed(0)
    if kind == "bert":
        model = transformers.BertModel(transformers.BertConfig(), add_pooling_layer=False)
    else:
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config())
    model.save_pretrained(folder)


def timed(work):
    """(seconds, seconds of processor time) of a call."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    begin = time.perf_counter()
    work()
    seconds = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_SELF)
    return seconds, after.ru_utime - used.ru_utime + after.ru_stime - used.ru_stime


class Encoder:
    def __init__(self, folder, ids, threads):
        torch.set_num_threads(threads)
        self.model = transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False).eval()
        assert self.model.config._attn_implementation == "sdpa"
        self.ids = torch.tensor([ids])

    @torch.no_grad()
    def run(self):
        return self.model(self.ids).last_hidden_state[0].numpy()

    def measure(self):
        return timed(self.run)


class Decoder:
    """One token after the ids before it, whose keys and values are kept."""

    def __init__(self, folder, ids, threads):
        torch.set_num_threads(threads)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
        assert self.model.config._attn_implementation == "sdpa"
        self.ids = torch.tensor([ids])
        with torch.no_grad():
            self.cache = self.model(self.ids[:, :-1], use_cache=True).past_key_values

    @torch.no_grad()
    def run(self):
        logits = self.model(self.ids[:, -1:], past_key_values=self.cache, use_cache=True).logits[0, -1].numpy()
        self.cache.crop(-1)
        return logits

    def measure(self):
        return timed(self.run)


def cold_command(folder, text, threads):
    return [sys.executable, "-c", COLD, str(folder), text, str(threads)]


def about():
    return f"torch {torch.__version__}, transformers {transformers.__version__}"
