"""A stage of the GAN without its log: ``gan_steps.py STEPS``; the variable ``GAN_STAGE`` names the stage."""

import os
import sys
from pathlib import Path

os.environ["KERAS_BACKEND"] = "tensorflow"
sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "gan"))

from digits import default_cache, open_source
from stages import STAGES
from timing import run
from train import make_stage_networks, make_trainer

stage = STAGES[os.environ["GAN_STAGE"]]
source = open_source("drawn", default_cache(), 60_000)
trainer = make_trainer(stage, make_stage_networks(stage), source, stage.batch_size, 0)


def step():
    results = trainer.step()
    return float(results["generator"]), float(results["discriminator"])


run(step, int(sys.argv[1]))
