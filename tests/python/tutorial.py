"""Attention rollout as a widely copied tutorial has it, in torch: what people run today, and what preset 'tutorial'
gives. Written anew from its description: heads fused by mean, max or min; (A + I) / 2; rows divided by their sum plus
1e-10; the smallest share of all weights dropped by a threshold out of a full sort; layers multiplied from below.
"""
import torch


class AttentionRollout:
    def __init__(self, discard_ratio=0.1, head_fusion="mean", include_residual=True):
        self.discard_ratio = discard_ratio
        self.head_fusion = head_fusion
        self.include_residual = include_residual

    def fuse_heads(self, heads):
        if self.head_fusion == "mean":
            return heads.mean(dim=0)
        return (heads.max(dim=0) if self.head_fusion == "max" else heads.min(dim=0)).values

    @staticmethod
    def divide_rows(attention):
        return attention / (attention.sum(dim=1, keepdim=True) + 1e-10)

    def add_residual(self, attention):
        identity = torch.eye(len(attention), device=attention.device)
        return self.divide_rows((attention + identity) / 2)

    def discard(self, attention):
        if self.discard_ratio <= 0:
            return attention
        rank = int(attention.numel() * self.discard_ratio)
        threshold = attention.flatten().sort().values[rank]
        attention = attention.clone()
        attention[attention < threshold] = 0
        return self.divide_rows(attention)

    def prepare(self, layer):
        """One layer, [n, n], [H, n, n] or [B, H, n, n]: of a batch the first item."""
        if layer.dim() == 4:
            layer = layer[0]
        attention = self.fuse_heads(layer) if layer.dim() == 3 else layer
        if self.include_residual:
            attention = self.add_residual(attention)
        return self.discard(attention)

    def compute_rollout_by_layer(self, layers):
        rollouts = []
        for layer in layers:
            attention = self.prepare(layer)
            rollouts.append(torch.matmul(attention, rollouts[-1]) if rollouts else attention)
        return rollouts

    def compute_rollout(self, layers):
        rollout = None
        for layer in layers:
            attention = self.prepare(layer)
            rollout = attention if rollout is None else torch.matmul(attention, rollout)
        return rollout
