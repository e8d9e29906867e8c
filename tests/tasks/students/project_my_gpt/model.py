# ruff: noqa: E501 - slips are rows of a table
"""Answers to my-gpt/model: right programs in many styles, and slips of all kinds."""

from students.project_my_gpt.programs import (
    EMBED,
    INIT,
    LAYER,
    MIX,
    MLP,
    SCORES,
    changed,
    names_of,
    right_programs,
)

SEEDS = [0, 1]

RIGHT = {style: space["GPT"] for style, space in right_programs().items()}

WRONG = {}

_MASKING = '        scores = scores.masked_fill(self.mask[:T, :T], float("-inf"))\n'
_POSITION = "        self.position = nn.Embedding(block_size, n_embd)\n"
_LAYERS = "nn.ModuleList([Layer(n_embd, n_head, block_size) for _ in range(n_layer)])"
_LOSS = "loss = F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))"
_SOFTMAX = "        weights = F.softmax(scores, dim=-1)\n"
_OUT = "        found = (weights @ v).transpose(1, 2).reshape(B, T, C)\n"

# what was done, what is replaced, and what is said of it
SLIPS = (
    # Results
    ("loss and no logits", [("        return logits, loss\n", "        return loss\n")], "error"),
    ("no loss", [("        return logits, loss\n", "        return logits\n")], "error"),
    ("prints, returns nothing", [("        return logits, loss\n", "")], "error"),
    ("five sizes in one", [("n_embd, n_head, n_layer):\n        super", "n_embd):\n        super")], "error"),
    ("no super().__init__()", [("n_head, n_layer):\n        super().__init__()\n", "n_head, n_layer):\n")], "error"),
    ("a fixed batch", [("x = self.token(tokens) +", "x = self.token(tokens.view(4, -1)) +")], "error"),
    ("mask not cut to T", [("self.mask[:T, :T]", "self.mask")], "error"),
    ("reads whole blocks only", [("        T = tokens.shape[1]\n        x", "        T = self.block_size\n        x")], "error"),
    ("logits of the last position", [("logits = self.head(self.norm(x))", "logits = self.head(self.norm(x))[:, -1]")], "error"),
    ("probabilities for logits", [("logits = self.head(self.norm(x))", "logits = self.head(self.norm(x)).softmax(-1)")], "returns-probabilities"),
    ("a sum for a mean", [("targets.view(-1))", 'targets.view(-1), reduction="sum")')], "wrong-loss"),
    ("targets shifted once more", [(_LOSS, "loss = F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), targets[:, 1:].reshape(-1))")], "wrong-loss"),
    ("loss of the tokens", [("targets.view(-1))", "tokens.view(-1))")], "wrong-loss"),
    ("loss of the last position", [(_LOSS, "loss = F.cross_entropy(logits[:, -1], targets[:, -1])")], "wrong-loss"),
    ("view for transpose in the loss", [("logits.view(-1, logits.shape[-1])", "logits.transpose(1, 2).reshape(-1, logits.shape[-1])")], "wrong-loss"),
    ("bits for nats", [("        return logits, loss\n", "        return logits, loss / math.log(2)\n")], "wrong-loss"),
    ("softmax before the loss", [("F.cross_entropy(logits.view(-1, logits.shape[-1])", "F.cross_entropy(logits.softmax(-1).view(-1, logits.shape[-1])")], "wrong-loss"),
    # The start
    ("embeddings of PyTorch, tied", [(INIT, "        self.head.weight = self.token.weight\n")], "starts-high"),
    ("weights of std 1", [("std=0.02", "std=1.0")], "starts-high"),
    # Masks
    ("no mask", [(_MASKING, "")], "no-causal-mask"),
    ("result of masked_fill dropped", [("        scores = scores.masked_fill(", "        scores.masked_fill(")], "no-causal-mask"),
    ("hidden with zero", [('float("-inf"))\n        weights', "0.0)\n        weights")], "no-causal-mask"),
    ("masked after the softmax", [(_MASKING, ""), (_SOFTMAX, _SOFTMAX + "        weights = weights.masked_fill(self.mask[:T, :T], 0)\n")], "no-causal-mask"),
    ("is_causal forgotten", [(SCORES, "        found = F.scaled_dot_product_attention(q, k, v)\n        found = found.transpose(1, 2).reshape(B, T, C)\n")], "no-causal-mask"),
    ("hidden with −1", [('float("-inf"))\n        weights', "-1.0)\n        weights")], "no-causal-mask"),
    ("mask one too late", [(".tril() == 0)", ".tril(1) == 0)")], "one-ahead"),
    ("mask one too early", [(".tril() == 0)", ".tril(-1) == 0)")], "not-a-number"),
    ("mask turned around", [(".tril() == 0)", ".triu() == 0)")], "mask-turned-around"),
    ("mask inverted", [(".tril() == 0)", ".tril() == 1)")], "not-a-number"),
    ("plus infinity", [('float("-inf"))\n        weights', 'float("inf"))\n        weights')], "not-a-number"),
    ("softmax over queries", [("F.softmax(scores, dim=-1)", "F.softmax(scores, dim=-2)")], "softmax-over-queries"),
    ("softmax over heads", [("F.softmax(scores, dim=-1)", "F.softmax(scores, dim=1)")], "not-a-number"),
    # Heads
    ("heads cut without transpose", [(MIX, MIX.replace("view(B, T, H, C // H).transpose(1, 2)", "view(B, H, T, C // H)"))], "sees-the-future"),
    ("heads joined without transpose", [(_OUT, "        found = (weights @ v).reshape(B, T, C)\n")], "sees-the-future"),
    ("one head for all", [("        H = self.n_head\n", "        H = 1\n")], "n-head-ignored"),
    ("no projection", [("        return self.out(found)", "        return found"), ("        self.out = nn.Linear(n_embd, n_embd)\n", "")], "block-miscounted"),
    ("a projection that is not used", [("        return self.out(found)", "        return found")], "unreached-parameters"),
    ("keys for queries", [("q = self.queries(x)", "q = self.keys(x)")], "unreached-parameters"),
    ("x for values", [("v = self.values(x)", "v = x"), ("        self.values = nn.Linear(n_embd, n_embd, bias=False)\n", "")], "block-miscounted"),
    ("no scale", [(" / math.sqrt(C // H)", "")], "wrong-scale"),
    ("scale by channels", [(" / math.sqrt(C // H)", " / math.sqrt(C)")], "wrong-scale"),
    ("scale without a root", [(" / math.sqrt(C // H)", " / (C // H)")], "wrong-scale"),
    # Positions
    ("no positions", [(EMBED, "x = self.token(tokens)"), (_POSITION, "")], "no-positions"),
    ("positions made and not added", [(EMBED, "x = self.token(tokens)")], "no-positions"),
    ("position 0 everywhere", [("self.position(torch.arange(T))", "self.position(torch.zeros(T, dtype=torch.long))")], "no-positions"),
    ("positions by halves", [("self.position(torch.arange(T))", "self.position(torch.arange(T) // 2)")], "positions-alike"),
    ("positions from the end", [("self.position(torch.arange(T))", "self.position(torch.arange(T).flip(0))")], "length-matters"),
    ("tokens embedded as positions", [("self.position(torch.arange(T))", "self.position(tokens % self.block_size)")], "no-positions"),
    # Blocks
    ("attention not added", [("        x = x + self.attention(", "        x = self.attention(")], "no-residual"),
    ("feed-forward not added", [("        x = x + self.mlp(", "        x = self.mlp(")], "no-residual"),
    ("neither added", [(LAYER, LAYER.replace("x + ", ""))], "no-residual"),
    ("a Python list", [(_LAYERS, _LAYERS.replace("nn.ModuleList(", "list("))], "blocks-not-registered"),
    ("one block used again", [(_LAYERS, "nn.ModuleList([Layer(n_embd, n_head, block_size)] * n_layer)")], "n-layer-ignored"),
    ("always two blocks", [("range(n_layer)", "range(2)")], "n-layer-ignored"),
    ("only the first block", [("        for layer in self.layers:\n            x = layer(x)\n", "        x = self.layers[0](x)\n")], "unreached-parameters"),
    ("blocks read the embedding", [("            x = layer(x)\n", "            y = layer(x)\n        x = y\n")], "unreached-parameters"),
    ("no norms in blocks", [(LAYER, "        x = x + self.attention(x)\n        x = x + self.mlp(x)\n"), ("        self.norm1 = nn.LayerNorm(n_embd)\n", ""), ("        self.norm2 = nn.LayerNorm(n_embd)\n", "")], "no-norm"),
    ("no last norm", [("self.head(self.norm(x))", "self.head(x)"), ("        self.norm = nn.LayerNorm(n_embd)\n", "")], "no-last-norm"),
    ("one norm for both", [("self.mlp(self.norm2(x))", "self.mlp(self.norm1(x))")], "unreached-parameters"),
    ("norm over positions", [("x = x + self.attention(self.norm1(x))", "x = x + self.attention(x - x.mean(1, keepdim=True) + 0 * self.norm1(x))")], "no-causal-mask"),
    ("batch norm", [("self.norm2 = nn.LayerNorm(n_embd)", "self.norm2 = nn.BatchNorm1d(n_embd, track_running_stats=False)"), ("self.mlp(self.norm2(x))", "self.mlp(self.norm2(x.transpose(1, 2)).transpose(1, 2))")], "rows-mixed"),
    ("no activation", [("self.down(F.relu(self.up(x)))", "self.down(self.up(x))")], "no-activation"),
    ("feed-forward of C channels", [(MLP, MLP.replace("4 * n_embd", "n_embd"))], "block-miscounted"),
    ("no feed-forward", [("        x = x + self.mlp(self.norm2(x))\n", ""), ("        self.norm2 = nn.LayerNorm(n_embd)\n        self.mlp = MLP(n_embd)\n", "")], "block-miscounted"),
    ("dropout that never stops", [("        return self.out(found)", "        return F.dropout(self.out(found), 0.1)")], "not-repeatable"),
    ("softmax over the batch", [(_SOFTMAX, "        weights = F.softmax(scores, dim=-1) * F.softmax(scores[..., :1], dim=0)\n")], "rows-mixed"),
    ("stream cut off", [("            x = layer(x)\n", "            x = layer(x.detach())\n")], "unreached-parameters"),
    ("a second table of tokens", [(_POSITION, _POSITION + "        self.more = nn.Embedding(vocab_size, n_embd)\n"), ("logits = self.head(", "x = x + self.more(tokens)\n        logits = self.head(")], "ends-miscounted"),
    ("vocabulary of its own", [("self.token = nn.Embedding(vocab_size,", "self.token = nn.Embedding(65,"), ("self.head = nn.Linear(n_embd, vocab_size,", "self.head = nn.Linear(n_embd, 65,")], "error"),
    ("a window of four", [(".tril() == 0)", ".tril().triu(-3) == 0)")], "past-unseen"),
    ("only itself", [(MIX, MIX[MIX.index("        v ="):]), (SCORES, "        found = v.transpose(1, 2).reshape(B, T, C)\n")], "only-itself"),
)  # fmt: skip

ODD = [(names_of(changed(changes))["GPT"], finding) for _, changes, finding in SLIPS]
