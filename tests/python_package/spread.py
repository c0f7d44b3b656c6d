"""Models whose layers lie on several devices, as a `device_map` puts them."""
import torch


def moved(value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, (tuple, list)):
        return type(value)(moved(one, device) for one in value)
    if isinstance(value, dict):
        return {name: moved(one, device) for name, one in value.items()}
    return value


def lies_on(module, device):
    """Puts a module on a device and lets it move what it is given there."""
    module.to(device)
    module.register_forward_pre_hook(lambda _, args, words: (moved(args, device), moved(words, device)),
                                     with_kwargs=True)


def spread(model, devices):
    """Layer k of a decoder on devices[k % len(devices)], what is before on the first, what is after on the last."""
    inner = model.model
    for k, layer in enumerate(inner.layers):
        lies_on(layer, devices[k % len(devices)])
    for part, device in ((inner.embed_tokens, devices[0]), (inner.rotary_emb, devices[0]), (inner.norm, devices[-1]),
                         (model.lm_head, devices[-1])):
        lies_on(part, device)
    return model


def dispatched(model, devices):
    """The same by accelerate, which is what from_pretrained(device_map=...) calls."""
    from accelerate import dispatch_model
    places = {f"model.layers.{k}": devices[k % len(devices)] for k in range(len(model.model.layers))}
    places |= {"model.embed_tokens": devices[0], "model.rotary_emb": devices[0], "model.norm": devices[-1],
               "lm_head": devices[-1]}
    return dispatch_model(model, places, main_device=devices[0])
