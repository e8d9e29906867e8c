"""A program of the reader's own becomes the course's GPT, whatever its parts are called, or it is
said which part has no place.
"""

import pytest
import torch
from students.project_my_gpt.programs import right_programs

from course_lib import role_map
from course_lib.config import Config
from course_lib.errors import CheckpointError

pytestmark = pytest.mark.slow

PROGRAMS = right_programs()

WITHOUT_A_PLACE = {
    "biases everywhere": "queries of block 0 have biases",
    "RMS norms": "RMS norms",
    "SwiGLU": "one of the three is a gate",
    "norms afterwards": "norms after each addition",
    "rotary positions": "rotations",
    "branches side by side": "in no order",
    "branches in one row": "no tensors are numbered from 0 to 2",
    "distances move scores": "near",
    "layers as an axis of each weight": "no tensors are numbered from 0 to 2",
}


def trained(style, config):
    """A program with weights that tell parts apart, and query biases only if it has some anyway."""
    torch.manual_seed(3)
    model = PROGRAMS[style]["GPT"](
        config.vocab_size, config.block_size, config.n_embd, config.n_head, config.n_layer
    )
    with torch.no_grad():
        for name, one in model.named_parameters():
            one += torch.randn_like(one) * (0.3 if one.ndim > 1 else 0.2)
            if name.endswith("c_attn.bias"):
                one[: config.n_embd] = 0
    return model.eval()


# Some sizes that are all different, and some that are all alike.
SIZES = [Config(13, 10, 3, 4, 24), Config(16, 16, 2, 2, 16), Config(11, 9, 1, 1, 8)]


@pytest.mark.parametrize("config", SIZES, ids=["different", "alike", "one"])
@pytest.mark.parametrize("style", sorted(set(PROGRAMS) - set(WITHOUT_A_PLACE)))
def test_program_becomes_the_courses_gpt_with_the_same_logits(style, config):
    model = trained(style, config)
    ours = role_map.gpt_of(model, config)
    tokens = torch.randint(config.vocab_size, (2, config.block_size))
    with torch.no_grad():
        theirs = role_map.logits_in(model(tokens, tokens), *tokens.shape, config.vocab_size)
        torch.testing.assert_close(ours(tokens)[0], theirs, rtol=1e-3, atol=1e-3)


def test_rotations_are_told_before_anything_is_learned():
    torch.manual_seed(0)
    config = SIZES[0]
    new = PROGRAMS["rotary positions"]["GPT"](13, 10, 24, 4, 3)  # scores of hardly anything
    new.kept = (n for n in ())  # which cannot be copied
    before = [one.clone() for one in new.parameters()]
    with pytest.raises(CheckpointError, match="rotations"):
        role_map.gpt_of(new, config)
    assert all(map(torch.equal, before, new.parameters()))


@pytest.mark.parametrize("style", WITHOUT_A_PLACE)
def test_what_has_no_place_is_named(style):
    with pytest.raises(CheckpointError, match=WITHOUT_A_PLACE[style]):
        role_map.gpt_of(trained(style, SIZES[0]), SIZES[0])
