"""Predictions of saved seconds and the measured seconds, by ``python -m benchmarks.outcomes``, one row for a script.

``low_s`` and ``high_s`` are the range without ``spread``, ``saved_s`` the seconds that the fixed twin took less. Quiet:
whole scripts, timed under plain Python on two quiet cores. Else both runs were recorded, at a load of 1 to 15, and
imports, the interpreter's end and tfperf's pauses are left out.
"""

from __future__ import annotations

from typing import NamedTuple


class Outcome(NamedTuple):
    """A prediction of seconds, by the kind of its remedy, and the measured seconds."""

    script: str
    kind: str
    low_s: float
    high_s: float
    saved_s: float
    quiet: bool


OUTCOMES: tuple[Outcome, ...] = (
    Outcome("collection.double_precision_floatx", "Setting", 1.86, 7.55, 8.48, False),
    Outcome("collection.histograms_every_step", "Remove", 8.28, 17.37, 8.13, False),
    Outcome("collection.many_metrics", "Remove", 0.14, 1.32, 1.06, False),
    Outcome("collection.many_tiny_steps", "Setting", 4.99, 7.31, 6.98, False),
    Outcome("collection.network_for_each_sensor", "ReplaceOps", 2.98, 6.26, 7.48, False),
    Outcome("collection.numbers_always_checked", "Setting", 0.34, 18.73, 15.75, False),
    Outcome("collection.numpy_default_dtype", "Setting", 1.99, 7.98, 5.33, False),
    Outcome("eighteenth.clip_export", "BatchLoop", 5.84, 6.2, 4.9, True),
    Outcome("eighteenth.event_rates", "KeepTrace", 4.79, 5.58, 4.7, True),
    Outcome("eighteenth.fare_training", "ChangeStage", 3.21, 5.94, 3.5, True),
    Outcome("eighteenth.gp_service", "ReplaceOps", 6.73, 7.92, 7.8, True),
    Outcome("eighteenth.metric_learning", "ReplaceOps", 6.76, 10.4, 11.0, True),
    Outcome("eighteenth.story_writer", "ReplaceOps", 2.15, 4.66, 2.7, True),
    Outcome("nineteenth.art_classifier_eval", "Compile", 1.8, 3.21, 3.2, True),
    Outcome("nineteenth.art_noise_robustness", "Compile", 1.8, 4.9, 0.5, True),
    Outcome("nineteenth.audio_to_tfrecord", "BatchLoop", 6.44, 7.03, 4.6, True),
    Outcome("nineteenth.bo_loop", "KeepTrace", 1.73, 6.3, 4.5, True),
    Outcome("nineteenth.denoise_vae", "Setting", 3.25, 5.67, 3.2, True),
    Outcome("nineteenth.dqn_cartpole", "Compile", 6.7, 7.12, 4.6, True),
    Outcome("nineteenth.embed_folds_eval", "Hoist", 0.92, 5.06, 5.8, True),
    Outcome("nineteenth.eval_tf1_model", "ReplaceOps", 2.4, 3.91, 2.8, True),
    Outcome("nineteenth.face_verify_api", "Hoist", 4.79, 5.68, 5.2, True),
    Outcome("nineteenth.fraud_kfold", "KeepTrace", 6.62, 6.92, 5.3, True),
    Outcome("nineteenth.frcnn_solver_tf1", "Remove", 4.18, 7.54, 5.8, True),
    Outcome("nineteenth.generate_text", "ReplaceOps", 1.1, 2.57, 2.5, True),
    Outcome("nineteenth.gnn_batch_scoring", "Rewrite", 2.1, 4.47, 4.9, True),
    Outcome("nineteenth.grad_cam_report", "Compile", 4.5, 5.7, 4.0, True),
    Outcome("nineteenth.haiku_sampler", "ReplaceOps", 1.5, 2.66, 2.5, True),
    Outcome("nineteenth.occlusion_sensitivity", "CallDirectly", 9.1, 9.43, 7.2, True),
    Outcome("nineteenth.pinn_polygon", "Rewrite", 1.0, 2.98, 7.1, True),
    Outcome("nineteenth.portrait_blur", "ReplaceOps", 1.4, 3.73, 3.0, True),
    Outcome("nineteenth.pq_distances_tf1", "Remove", 2.85, 4.0, 5.0, True),
    Outcome("nineteenth.prioritized_replay", "Remove", 0.71, 2.23, 3.8, True),
    Outcome("nineteenth.score_service", "Hoist", 1.43, 2.93, 2.8, True),
    Outcome("nineteenth.slow_adaptation", "KeepTrace", 6.11, 6.66, 6.4, True),
    Outcome("nineteenth.snake_selfplay", "CallDirectly", 8.4, 8.73, 6.8, True),
    Outcome("nineteenth.spin_glass_anneal", "KeepTrace", 9.78, 10.74, 8.8, True),
    Outcome("nineteenth.survival_sequence", "Hoist", 3.67, 4.35, 7.7, True),
    Outcome("nineteenth.traffic_gcn", "ReplaceOps", 1.4, 1.95, 1.5, True),
    Outcome("nineteenth.vanilla_gradients", "KeepTrace", 3.26, 3.28, 2.2, True),
    Outcome("nineteenth.vegas_mc", "BatchLoop", 2.62, 3.21, 3.2, True),
    Outcome("nineteenth.vqa_probe_tf1", "ReplaceOps", 2.8, 4.62, 4.0, True),
    Outcome("seventeenth.batch_server", "Remove", 8.02, 9.24, 9.5, True),
    Outcome("seventeenth.multitask_net", "Every", 5.36, 7.28, 6.4, True),
    Outcome("seventeenth.snapshot_ensemble", "Remove", 3.94, 6.36, 4.2, True),
    Outcome("seventeenth.soft_q_agent", "KeepTrace", 4.9, 8.28, 5.9, True),
    Outcome("seventeenth.ticket_tagger", "Rewrite", 4.97, 5.71, 5.2, True),
    Outcome("sixteenth.arm_ddpg", "Rewrite", 6.55, 12.69, 11.42, False),
    Outcome("sixteenth.bearing_sound", "ChangeStage", 5.25, 7.96, 6.11, False),
    Outcome("sixteenth.bird_calls", "ChangeStage", 19.66, 30.35, 29.73, False),
    Outcome("sixteenth.box_matcher", "ReplaceOps", 13.22, 17.84, 18.89, False),
    Outcome("sixteenth.cartpole_dqn", "CallDirectly", 57.94, 59.55, 74.41, False),
    Outcome("sixteenth.checkpoint_report", "ChangeStage", 3.73, 14.74, 19.85, False),
    Outcome("sixteenth.click_ranker", "ChangeStage", 13.23, 27.26, 27.6, False),
    Outcome("sixteenth.decay_bootstrap", "KeepTrace", 39.74, 41.57, 42.71, False),
    Outcome("sixteenth.doc_scorer", "KeepTrace", 20.79, 23.29, 26.42, False),
    Outcome("sixteenth.eeg_bandpower", "ReplaceOps", 17.32, 25.12, 25.09, False),
    Outcome("sixteenth.hand_keypoints", "ChangeStage", 3.88, 13.91, 15.67, False),
    Outcome("sixteenth.hh_population", "Compile", 79.1, 84.61, 85.25, False),
    Outcome("sixteenth.leaf_cnn_schedule", "KeepTrace", 106.43, 121.11, 117.2, False),
    Outcome("sixteenth.load_forecast", "Rewrite", 14.76, 32.34, 32.79, False),
    Outcome("sixteenth.load_windows", "ChangeStage", 26.08, 52.99, 47.22, False),
    Outcome("sixteenth.loan_reasons", "CallDirectly", 84.32, 84.81, 89.67, False),
    Outcome("sixteenth.log_cleaner", "ChangeStage", 9.07, 17.95, 18.74, False),
    Outcome("sixteenth.lorenz_dataset", "Compile", 59.8, 70.22, 75.44, False),
    Outcome("sixteenth.melody_sampler", "CallDirectly", 125.39, 127.08, 133.79, False),
    Outcome("sixteenth.pole_dqn", "CallDirectly", 128.6, 144.08, 153.03, False),
)
