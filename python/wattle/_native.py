"""The ctypes signatures of Wattle's C headers.

Written by scripts/python-signatures; not to be edited. An opaque object, an array of numbers and
void * are c_void_p: an address, or byref(..) of what is to be filled in. Enumerations are c_uint.
"""
# fmt: off
from __future__ import annotations

from ctypes import (CDLL, CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int64,
                    c_long, c_size_t, c_ubyte, c_uint, c_uint8, c_uint32, c_uint64, c_void_p)
from enum import IntEnum
from typing import Any, Callable, Dict, List, Tuple

WT_BOOLEAN_MAX_BITS = 16
WT_BYTES_TEXT = 24
WT_COMPARE_LENGTHS = 3
WT_CONSTRUCTION_MAX_BITS = 8
WT_CURVE_NAME = 96
WT_EXPLORING_SEEDS = 1000
WT_EXPONENT_TEXT = 32
WT_FIELD_TEXT = 32
WT_GRID_MAX_COUNT = 1000000
WT_GRID_WHOLE = 9007199254740992
WT_HASH_TEXT = 65
WT_LAMBDA_AT_END = 'the chosen lambda is an end of what double precision allows: a better one may lie beyond; compare min-norm'
WT_LAYER_FORM_TEXT = 64
WT_LAYER_MAX_NOTES = 8
WT_LOOKS = 24
WT_MACHINE_TEXT = 320
WT_MAX_RANK = 8
WT_MAX_THREADS = 1024
WT_MESSAGE_BYTES = 1024
WT_PARITY_MAX_DIMENSION = 20
WT_PROBLEM_FIRST_TEST = 1099511627776
WT_PROCESSOR_TEXT = 128
WT_QUERY_MAX_DIM = 4096
WT_QUERY_MAX_HEADS = 256
WT_QUOTED_BYTES = 128
WT_RECOVER_MAX_WARNINGS = 8
WT_RECOVER_WARNING_BYTES = 256
WT_SCULPT_MAX_HEADS = 4
WT_SCULPT_MAX_TOKENS = 8
WT_SCULPT_MAX_VALUES = 6
WT_SECONDS_TEXT = 24
WT_SHOWN_CHARACTER = 20
WT_SINGULAR_SHOWN = 4
WT_TRAIN_NAME = 32
WT_VERSION_MAJOR = 1
WT_VERSION_MINOR = 0
WT_VERSION_NUMBER = 10000
WT_VERSION_PATCH = 0


class wt_status(IntEnum):
    WT_OK = 0
    WT_MISSED = 1
    WT_USAGE = 2
    WT_DATA = 3
    WT_NO_INPUT = 4
    WT_UNAVAILABLE = 5
    WT_INTERNAL = 6
    WT_MEMORY = 7
    WT_CANNOT_CREATE = 8
    WT_IO = 9
    WT_INTERRUPTED = 10
    WT_CONFIG = 11


class wt_blas_choice(IntEnum):
    WT_BLAS_CHOICE_PROCESSOR = 0
    WT_BLAS_CHOICE_USER = 1
    WT_BLAS_CHOICE_LIBRARY = 2
    WT_BLAS_CHOICE_LOADED_BEFORE = 3


class wt_field_kind(IntEnum):
    WT_FIELD_KIND_WORD = 0
    WT_FIELD_KIND_TEXT = 1
    WT_FIELD_KIND_COUNT = 2
    WT_FIELD_KIND_NATURAL = 3
    WT_FIELD_KIND_REAL = 4
    WT_FIELD_KIND_CHOICE = 5
    WT_FIELD_KIND_FLAG = 6


class wt_law(IntEnum):
    WT_LAW_SPHERE = 0
    WT_LAW_GAUSSIAN = 1
    WT_LAW_BOOLEAN = 2


class wt_model_kind(IntEnum):
    WT_MODEL_KIND_RFA = 0
    WT_MODEL_KIND_BRFA = 1
    WT_MODEL_KIND_RFMLP = 2
    WT_MODEL_KIND_RFA_INF = 3
    WT_MODEL_KIND_BRFA_INF = 4
    WT_MODEL_KIND_RFMLP_INF = 5


class wt_activation(IntEnum):
    WT_ACTIVATION_RELU = 0
    WT_ACTIVATION_SOFTMAX = 1


class wt_lambda(IntEnum):
    WT_LAMBDA_FIXED = 0
    WT_LAMBDA_LOO = 1
    WT_LAMBDA_GCV = 2
    WT_LAMBDA_MIN_NORM = 3
    WT_LAMBDA_ORACLE = 4


class wt_solver(IntEnum):
    WT_SOLVER_AUTO = 0
    WT_SOLVER_DUAL = 1
    WT_SOLVER_PRIMAL = 2


class wt_loss(IntEnum):
    WT_LOSS_SQUARE = 0
    WT_LOSS_ABSOLUTE = 1
    WT_LOSS_HUBER = 2
    WT_LOSS_LOGISTIC = 3


class wt_model_norm(IntEnum):
    WT_MODEL_NORM_QK21 = 0
    WT_MODEL_NORM_QK = 1
    WT_MODEL_NORM_V21 = 2
    WT_MODEL_NORM_V = 3
    WT_MODEL_NORM_C21 = 4
    WT_MODEL_NORM_C = 5
    WT_MODEL_NORM_SIGMA = 6
    WT_MODEL_NORM_X = 7
    WT_MODEL_NORM_P = 8
    WT_MODEL_NORM_CLS = 9
    WT_MODEL_NORM_W = 10


class wt_type(IntEnum):
    WT_TYPE_F64 = 0
    WT_TYPE_F32 = 1
    WT_TYPE_F16 = 2
    WT_TYPE_BF16 = 3
    WT_TYPE_I64 = 4
    WT_TYPE_I32 = 5
    WT_TYPE_U8 = 6
    WT_TYPE_BOOL = 7
    WT_TYPE_I16 = 8
    WT_TYPE_I8 = 9
    WT_TYPE_U64 = 10
    WT_TYPE_U32 = 11
    WT_TYPE_U16 = 12


class wt_layer_norm(IntEnum):
    WT_LAYER_NORM_NONE = 0
    WT_LAYER_NORM_LAYER = 1
    WT_LAYER_NORM_RMS = 2


class wt_layer_mask(IntEnum):
    WT_LAYER_MASK_NONE = 0
    WT_LAYER_MASK_CAUSAL = 1


class wt_growth(IntEnum):
    WT_GROWTH_LOG = 0
    WT_GROWTH_SQRT = 1
    WT_GROWTH_LINEAR = 2


class wt_store_mode(IntEnum):
    WT_STORE_MODE_READ = 0
    WT_STORE_MODE_WRITE = 1
    WT_STORE_MODE_CREATE = 2
    WT_STORE_MODE_COPY = 3


class wt_export_format(IntEnum):
    WT_EXPORT_FORMAT_CSV = 0
    WT_EXPORT_FORMAT_JSON = 1
    WT_EXPORT_FORMAT_LIST_JSON = 2
    WT_EXPORT_FORMAT_LIST = 3


class wt_table_rule(IntEnum):
    WT_TABLE_RULE_MEAN = 0
    WT_TABLE_RULE_GEOMETRIC = 1
    WT_TABLE_RULE_RATE = 2


class wt_verdict(IntEnum):
    WT_VERDICT_NOT_MEASURED = 0
    WT_VERDICT_UNDECIDED = 1
    WT_VERDICT_REPRODUCED = 2
    WT_VERDICT_NOT_REPRODUCED = 3
    WT_VERDICT_NO_TEST = 4
    WT_VERDICT_EXPLORED = 5


class wt_positions(IntEnum):
    WT_POSITIONS_BASIS = 0
    WT_POSITIONS_RANDOM = 1
    WT_POSITIONS_TRAINED = 2


class wt_construction_heads(IntEnum):
    WT_CONSTRUCTION_HEADS_EACH = 0
    WT_CONSTRUCTION_HEADS_ONE = 1
    WT_CONSTRUCTION_HEADS_AUTO = 2


class wt_construction_tokens(IntEnum):
    WT_CONSTRUCTION_TOKENS_SUM = 0
    WT_CONSTRUCTION_TOKENS_BAG = 1


class wt_recover_forms(IntEnum):
    WT_RECOVER_FORMS_GIVEN = 0
    WT_RECOVER_FORMS_AUTO = 1


class wt_recover_verdict(IntEnum):
    WT_RECOVER_VERDICT_NOT_FOUND = 0
    WT_RECOVER_VERDICT_MISFIT = 1
    WT_RECOVER_VERDICT_NOISE = 2
    WT_RECOVER_VERDICT_EXACT = 3


class wt_mark(IntEnum):
    WT_MARK_POINTS = 0
    WT_MARK_LINE = 1
    WT_MARK_BAND = 2
    WT_MARK_DOTS = 3


class wt_open(IntEnum):
    WT_OPEN_LOW = 1
    WT_OPEN_HIGH = 2
    WT_OPEN_VALUE = 4


class wt_sculpt_stage(IntEnum):
    WT_SCULPT_STAGE_NONE = 0
    WT_SCULPT_STAGE_CRUDE = 1
    WT_SCULPT_STAGE_PATTERNS = 2
    WT_SCULPT_STAGE_SPAN = 3
    WT_SCULPT_STAGE_NET = 4


class wt_search_method(IntEnum):
    WT_SEARCH_METHOD_SEARCH = 0
    WT_SEARCH_METHOD_ELIMINATION = 1


class wt_launcher(IntEnum):
    WT_LAUNCHER_SLURM = 0
    WT_LAUNCHER_LOCAL = 1


class wt_constants(IntEnum):
    WT_SUBMIT_JOBS = 256
    WT_TASK_STATE_TEXT = 24
    WT_TASK_STATES = 12
    WT_THRESHOLD_GROWTHS = 3


class wt_censoring(IntEnum):
    WT_CENSORING_NO = 0
    WT_CENSORING_BELOW = 1
    WT_CENSORING_ABOVE = 2


class wt_progress(Structure):
    what: bytes
    done: float
    total: float
    seconds: float
    share: float
    detail: bytes


class wt_blas(Structure):
    size: int
    config: bytes
    core: bytes
    best: bytes
    choice: int
    parallel: int
    remedy: bytes


class wt_sparse_spec(Structure):
    size: int
    function: bytes
    length: int
    relevant: Any
    relevant_count: int
    probability: float
    noise: float
    seed: int


class wt_arena(Structure):
    context: Any
    what: bytes
    status: int
    last: Any


class wt_value(Structure):
    number: float
    text: bytes


class wt_field(Structure):
    name: bytes
    kind: int
    fallback: bytes
    help: bytes
    offset: int
    value: bytes
    option: bytes
    file: bytes
    range: bytes
    none: bytes
    words: Any
    only: bytes
    since: int
    letter: bytes
    list: bool
    item: int


class wt_list(Structure):
    count: int
    values: Any


class wt_problem_spec(Structure):
    size: int
    target: bytes
    law: int
    token_scale: float
    noise: float
    dim: int
    keys: int
    seed: int


class wt_target_info(Structure):
    form: bytes
    formula: bytes


class wt_grid(Structure):
    count: int
    values: Any


class wt_model_spec(Structure):
    size: int
    kind: int
    activation: int
    heads: int
    width: int
    bias: float
    dim: int
    keys: int
    seed: int


class wt_ridge_options(Structure):
    size: int
    rule: int
    path: Any
    path_count: int
    standardize: bool
    solver: int


class wt_ridge_spec(Structure):
    size: int
    path: bytes
    standardize: bool
    solver: int


class wt_fit_report(Structure):
    size: int
    route: Any
    samples: int
    features: int
    outputs: int
    train_error: float
    loo_error: float
    test_error: float
    sum_norms: float
    m_sum_squares: float
    freedom: float
    rank: int
    condition: float
    seconds: float
    bytes: int
    lambda_at_end: bool
    out_of_time: bool


class wt_fit_cost(Structure):
    size: int
    route: Any
    samples: int
    features: int
    flops: float
    bytes: float


class wt_curve_point(Structure):
    n: int
    test_error: float
    train_error: float
    loo_error: float
    lambda_at_end: bool


class wt_ball_options(Structure):
    size: int
    loss: int
    huber: float
    k1: float
    k2: float
    tolerance: float
    max_steps: int


class wt_ball_report(Structure):
    size: int
    objective: float
    objective_at_zero: float
    lower_bound: float
    gap: float
    relative_gap: float
    steps: int
    passes: int
    factorisations: int
    sum_norms: float
    m_sum_squares: float
    sum_binds: bool
    squares_bind: bool
    reached: bool
    test_loss: float


class wt_bound_spec(Structure):
    size: int
    kind: int
    target: bytes
    dim: int
    keys: int
    heads: int
    samples: int
    delta: float


class wt_bound(Structure):
    size: int
    complexity_known: bool
    log10_complexity: float
    formula: bytes
    risk_known: bool
    log10_sample_term: float
    log10_head_term: float
    log10_risk: float
    heads_suffice: float
    heads_balanced: float
    source: bytes
    log10_over_rfa: float
    unspecified: Any


class wt_complexity(Structure):
    size: int
    jitter: float
    diagonal: float


class wt_capacity_spec(Structure):
    size: int
    norms: Any
    deep: bool
    residual: bool
    dim: int
    length: int
    samples: int
    epsilon: float
    delta: float
    lipschitz: float
    loss_max: float


class wt_capacity(Structure):
    size: int
    log_factor: float
    constant: float
    covering: float
    range: float
    vacuous: bool
    capacity_term: float
    confidence_term: float
    gap: float
    pseudo_natural: int
    pseudo_binary: int
    unspecified: Any


class wt_array(Structure):
    name: Any
    type: int
    rank: int
    shape: Any
    count: int
    bytes: int
    fortran: bool
    offset: int
    member: int


class wt_metadata(Structure):
    key: bytes
    value: bytes


class wt_summary(Structure):
    size: int
    finite: int
    nan: int
    inf: int
    min: float
    max: float
    mean: float


class wt_tensor(Structure):
    name: bytes
    type: int
    rank: int
    shape: Any
    values: Any


class wt_layer_form(Structure):
    size: int
    bias: bool
    mask: int
    residual: bool
    norm: int
    epsilon: float


class wt_teacher_options(Structure):
    size: int
    heads: int
    dim: int
    outputs: int
    scale: float
    rank: int
    seed: int
    parity: int
    bias: bool
    residual: bool
    mask: int
    norm: int
    epsilon: float
    groups: int


class wt_sequences_spec(Structure):
    size: int
    last_row: bool
    missing: bool


class wt_sequences_arrays(Structure):
    size: int
    samples: int
    length: int
    dim: int
    outputs: int
    x: Any
    y: Any
    last_rows: bool
    lengths: Any
    mask: Any


class wt_token_rows(Structure):
    rows: int
    values: Any
    fixed: bool
    row: int


class wt_layer_draw_options(Structure):
    size: int
    samples: int
    length: int
    shortest: int
    dim: int
    law: int
    token_scale: float
    noise: float
    seed: int
    rows: Any
    add: Any
    add_count: int
    gain: Any
    shift: Any


class wt_checkpoint_options(Structure):
    size: int
    heads: int
    ignore_rope: bool
    map: bytes


class wt_layer_export_options(Structure):
    size: int
    rank: int


class wt_interval(Structure):
    value: float
    low: float
    high: float


class wt_affine_fit(Structure):
    intercept: wt_interval
    slope: wt_interval
    r_squared: float
    squares: float
    aic: float
    bic: float


class wt_trials(Structure):
    m: float
    successes: int
    count: int


class wt_record(Structure):
    size: int
    hash: bytes
    experiment: bytes
    parameters: bytes
    seed: int
    result_version: int
    failed: bool
    message: bytes
    metrics: bytes
    wall_seconds: float
    version: bytes
    machine: bytes
    finished_date: bytes


class wt_store_count(Structure):
    size: int
    done: int
    failed: int
    wall_seconds: float
    disputed: int


class wt_export_options(Structure):
    size: int
    format: int
    experiment: bytes
    failed_only: bool
    path: bytes
    folder: bytes


class wt_merge_report(Structure):
    size: int
    added: int
    known: int
    mended: int
    differs: int
    disputed: int


class wt_table_query(Structure):
    size: int
    experiment: bytes
    where: bytes
    x: bytes
    y: bytes
    apart: bytes
    rule: int


class wt_table_row(Structure):
    line: int
    x: float
    y: wt_interval
    repetitions: int


class wt_rules(Structure):
    version: int
    seed: int
    date: bytes
    change: bytes


class wt_paper(Structure):
    number: bytes
    subject: bytes
    authors: bytes
    title: bytes
    where: bytes


class wt_claim(Structure):
    id: bytes
    title: bytes
    sentence: bytes
    source: bytes


class wt_evidence(Structure):
    effect: wt_interval
    cells: int
    settings: int
    repetitions: int
    dropped: int
    failed: int
    censored: int
    searched: bool


class wt_finding_part(Structure):
    name: bytes
    effect: bytes
    unit: bytes
    boundary: float
    above: bool
    reason: bytes
    rival: bytes
    measured: Any
    of_rival: Any
    verdict: int
    rival_verdict: int
    more: float


class wt_finding(Structure):
    claim: Any
    first_part: int
    part_count: int
    verdict: int


class wt_construction_spec(Structure):
    size: int
    function: bytes
    length: int
    relevant: Any
    relevant_count: int
    positions: int
    position_dim: int
    heads: int
    tokens: int
    seed: int


class wt_construction_summary(Structure):
    size: int
    length: int
    bits: int
    heads: int
    dim: int
    relevant: Any
    bag: bool
    width1: int
    width2: int
    gap: float
    strength: float
    overlap: float
    qk21: float
    v21: float
    v: float
    x: float
    cls: float


class wt_construction_report(Structure):
    size: int
    promise: float
    head_error: float
    drawn_error: float
    function_error: float
    kept: bool


class wt_construction_least(Structure):
    size: int
    strength: float
    linear: float


class wt_curve_options(Structure):
    size: int
    kind: bytes
    heads: bytes
    bias: bytes
    activation: bytes
    width: int
    target: bytes
    dim: bytes
    keys: bytes
    law: int
    token_scale: float
    noise: float
    n: bytes
    reps: int
    test_samples: int
    data: Any
    holdout: float
    path: bytes
    output: bytes
    seed: int


class wt_curve_line(Structure):
    model: bytes
    target: bytes
    activation: bytes
    dim: int
    keys: int
    heads: int
    bias: float
    rate: wt_interval


class wt_curve_summary(Structure):
    n: int
    error: wt_interval
    over_first: wt_interval


class wt_device_info(Structure):
    size: int
    name: Any
    product: Any
    memory: int
    used: int
    peak: int
    ranks: int
    flops: float
    bytes: float
    messages: float


class wt_head_summary(Structure):
    size: int
    diagonal_mean: float
    diagonal_spread: float
    off_mean: float
    off_spread: float
    standard_errors: float
    identity: float
    identity_share: float
    effective_rank: float
    rank: int
    spectral: float
    frobenius: float
    columns_21: float
    rows_21: float
    symmetric: float
    singular: Any
    ov_singular: Any
    ov_effective_rank: float
    ov_frobenius: float
    layer: int
    head: int
    dim: int


class wt_inspect_options(Structure):
    size: int
    heads: int
    map: bytes
    fold: bool
    layers: Any
    only: Any
    layer_count: int
    only_count: int


class wt_network_spec(Structure):
    size: int
    kind: bytes
    length: int
    dim: int
    heads: int
    hidden: int
    embedding_drop: float
    attention_drop: float
    block_drop: float
    fixed_positions: bool
    activation: bytes


class wt_network_tensor(Structure):
    name: bytes
    rows: int
    columns: int
    vector: bool
    offset: int
    fixed: bool


class wt_network_result(Structure):
    size: int
    loss: float
    miss: float
    correct: int
    samples: int


class wt_meter(Structure):
    context: Any
    what: bytes
    total: float
    began: float
    share: float
    done: float
    phase: bytes


class wt_recover_options(Structure):
    size: int
    heads: int
    restarts: int
    holdout: float
    seed: int
    max_steps: int
    goal: float
    start: Any
    matrix_free: bool
    method: bytes
    teacher: Any
    bias: bool
    residual: bool
    mask: int
    norm: int
    epsilon: float
    rank: int
    forms: int
    groups: int


class wt_recover_method(Structure):
    name: bytes
    steps: int
    asks: bool


class wt_recover_report(Structure):
    size: int
    method: bytes
    verdict: int
    recovered: bool
    exact: bool
    goal: float
    reason: bytes
    misfit_chance: float
    misfit_part: float
    misfit_visible: float
    misfit_kind: bytes
    heads: int
    start: int
    starts: int
    start_from: bytes
    steps: int
    products: int
    flops: float
    train_error: float
    holdout_error: float
    condition: float
    least_examples: float
    examples: int
    dim: int
    rank: int
    seconds: float
    warnings: int
    warning: Any
    form: bytes
    forms: int
    out_of_time: bool


class wt_head_match(Structure):
    a: int
    b: int
    theta_error: float
    w_error: float


class wt_comparison(Structure):
    size: int
    heads_a: int
    heads_b: int
    matches: int
    match: Any
    theta_error: float
    w_error: float
    length: Any
    distance: Any
    c_error: float
    dim: int
    rank: int
    off_origin: bool
    data_output: float
    data_difference: float


class wt_compare_options(Structure):
    size: int
    token_scale: float
    seed: int
    data: Any


class wt_query_options(Structure):
    size: int
    heads: int
    checks: int
    restarts: int
    tolerance: float
    seed: int
    bias: bool
    residual: bool
    mask: int
    norm: int
    epsilon: float
    rank: int
    forms: int
    questions: int


class wt_query_report(Structure):
    size: int
    heads: int
    dim: int
    outputs: int
    start_queries: int
    polish_queries: int
    check_queries: int
    start_residual: float
    residual: float
    check_error: float
    starts: int
    steps: int
    reached: bool
    flops: float
    out_of_time: bool
    out_of_questions: bool
    tolerance: float
    form: bytes
    forms: int


class wt_stream(Structure):
    seed: int
    stream: int


class wt_series(Structure):
    name: bytes
    mark: int
    look: int
    count: int
    x: Any
    y: Any
    low: Any
    high: Any
    open: Any


class wt_axis(Structure):
    label: bytes
    log: bool
    low: float
    high: float


class wt_panel(Structure):
    title: bytes
    x: wt_axis
    y: wt_axis
    series: Any
    series_count: int
    heat: Any
    heat_rows: int
    heat_columns: int
    heat_low: float
    heat_high: float
    heat_legend: bytes


class wt_figure(Structure):
    size: int
    panel_size: int
    series_size: int
    title: bytes
    panels: Any
    panel_count: int
    columns: int
    share_y: bool
    heat_limit: float
    legend: bytes
    heat_aspect: float


class wt_report_summary(Structure):
    size: int
    cells: int
    figures: int
    drawn: bool
    why: bytes


class wt_report_options(Structure):
    size: int
    checkpoints: Any
    checkpoint_count: int


class wt_shard(Structure):
    index: int
    count: int


class wt_plan_count(Structure):
    size: int
    cells: int
    groups: int
    done: int
    failed: int
    wanted: int


class wt_plan_cost(Structure):
    size: int
    seconds: float
    bytes: float


class wt_sweep_options(Structure):
    size: int
    workers: int
    command: bytes
    version: bytes
    machine: bytes


class wt_sweep_report(Structure):
    size: int
    done: int
    failed: int
    seconds: float


class wt_reproduction_sweep(Structure):
    line: bytes
    scale: bytes
    what: bytes
    sweep: bytes


class wt_reproduction_report(Structure):
    size: int
    before: int
    done: int
    failed: int
    seconds: float


class wt_sculpt_report(Structure):
    size: int
    stage: int
    crude_explained: float
    crude_error: float
    rows: int
    accepted: int
    rounds: int
    median_residual: float
    largest_residual: float
    sum_error: float
    slabs: int
    value_count: int
    values: Any
    median_value: float
    heads: int
    gap: float
    hull_error: float
    net_points: int
    tuples: int
    start_error: float
    seconds: float
    flops: float


class wt_certificate_options(Structure):
    size: int
    part: float
    directions: int
    seed: int
    teacher: Any


class wt_certificate_result(Structure):
    size: int
    rows: int
    slabs: int
    eta: float
    directions: int
    theta_size: float
    median: float
    largest: float
    frobenius_factor: float
    teacher_heads: int
    teacher_inside: int
    seconds: float


class wt_search_result(Structure):
    size: int
    bits: int
    errors: int
    found: int
    complete: bool
    looked: int
    position: Any


class wt_parity_result(Structure):
    size: int
    consistent: bool
    rank: int
    dimension: int
    least_known: bool
    least: int
    least_count: int
    member: Any


class wt_search_options(Structure):
    size: int
    task: bytes
    method: int
    probability: float
    noise: float
    length: bytes
    samples: bytes
    trials: int
    rate: float
    output: bytes
    seed: int


class wt_search_point(Structure):
    samples: int
    unique: bool
    success: bool
    errors: int
    looked: int


class wt_search_row(Structure):
    length: int
    samples: int
    successes: int
    trials: int
    rate: wt_interval
    looked: float


class wt_submit_options(Structure):
    size: int
    launcher: int
    tasks: int
    throttle: int
    seconds: float
    cpus: int
    memory: int
    gpus: int
    partition: bytes
    extra: bytes
    device: bytes
    program: bytes


class wt_submit_report(Structure):
    size: int
    cells: int
    done: int
    failed: int
    under_way: int
    wanted: int
    tasks: int
    seconds: float
    work: float
    bytes: float
    jobs: Any


class wt_task_count(Structure):
    state: bytes
    tasks: int


class wt_folder_state(Structure):
    size: int
    cells: int
    done: int
    failed: int
    tasks: int
    active: int
    state_count: int
    states: Any
    scheduler: bool
    rate: float
    left: float


class wt_train_spec(Structure):
    size: int
    task: bytes
    length: int
    relevant: Any
    relevant_count: int
    probability: float
    noise: float
    model: bytes
    dim: int
    heads: int
    hidden: int
    activation: bytes
    dropout: float
    embedding_dropout: float
    attention_dropout: float
    block_dropout: float
    samples: int
    online: int
    rate: float
    weight_decay: float
    clip: float
    balls: bytes
    init_scale: float
    steps: int
    validate: int
    validation_samples: int
    success: float
    settle: float
    restarts: int
    loss_mark: float
    seed: int
    fixed_positions: bool
    keep_ambiguous: bool
    decoupled: bool
    to_end: bool
    hasty: bool


class wt_train_point(Structure):
    run: int
    step: int
    loss: float
    train_accuracy: float
    validation_accuracy: float


class wt_train_result(Structure):
    size: int
    success: bool
    runs: int
    success_step: int
    mark_step: int
    leave_step: int
    low_step: int
    steps: int
    settled: bool
    best_accuracy: float
    loss: float
    train_accuracy: float
    redrawn: int
    seconds: float


class wt_train_norm(Structure):
    name: bytes
    rows: int
    columns: int
    spectral: float
    frobenius: float
    two_one: float


class wt_train_measure(Structure):
    size: int
    train_loss: float
    train_accuracy: float
    test_loss: float
    test_accuracy: float
    gap: float
    gap_low: float
    gap_high: float
    train_miss: float
    test_miss: float
    norm_count: int
    norms: Any
    heads: int
    positions: int
    mass: float
    best_mass: float
    best_head: int
    attention: Any


class wt_threshold_spec(Structure):
    size: int
    train: Any
    lengths: Any
    length_count: int
    low: int
    high: int
    resolution: int
    trials: int
    rate: float
    all_trials: bool
    around: int
    seed: int
    as_made: bool


class wt_threshold_cell(Structure):
    length: int
    samples: int
    successes: int
    trials: int
    rate: wt_interval


class wt_threshold_point(Structure):
    length: int
    censoring: int
    critical: int
    largest: int
    fitted: wt_interval
    first_cell: int
    cells: int


class wt_threshold_fit_row(Structure):
    growth: int
    fit: wt_affine_fit


class wt_threshold_summary(Structure):
    size: int
    points: Any
    point_count: int
    cells: Any
    cell_count: int
    fitted_points: int
    fits: Any
    exponent: wt_interval


wt_log_fn = CFUNCTYPE(None, c_void_p, c_char_p)
wt_progress_fn = CFUNCTYPE(None, c_void_p, POINTER(wt_progress))
wt_file_values_fn = CFUNCTYPE(c_uint, c_void_p, c_void_p, c_size_t)
wt_output_block_fn = CFUNCTYPE(c_uint, c_void_p, c_void_p, c_size_t)
wt_record_fn = CFUNCTYPE(c_uint, c_void_p, POINTER(wt_record))
wt_note_fn = CFUNCTYPE(c_uint, c_void_p, c_char_p, c_char_p)
wt_dispute_fn = CFUNCTYPE(c_uint, c_void_p, POINTER(wt_record), POINTER(wt_record))
wt_oracle_answer_fn = CFUNCTYPE(c_uint, c_void_p, c_char_p, c_size_t)
wt_query_ask_fn = CFUNCTYPE(c_uint, c_void_p, c_size_t, c_void_p, c_void_p)
wt_progress._fields_ = [
    ("what", c_char_p),
    ("done", c_double),
    ("total", c_double),
    ("seconds", c_double),
    ("share", c_double),
    ("detail", c_char_p),
]
wt_blas._fields_ = [
    ("size", c_size_t),
    ("config", c_char_p),
    ("core", c_char_p),
    ("best", c_char_p),
    ("choice", c_uint),
    ("parallel", c_int),
    ("remedy", c_char * 256),
]
wt_sparse_spec._fields_ = [
    ("size", c_size_t),
    ("function", c_char_p),
    ("length", c_size_t),
    ("relevant", c_void_p),
    ("relevant_count", c_size_t),
    ("probability", c_double),
    ("noise", c_double),
    ("seed", c_uint64),
]
wt_arena._fields_ = [
    ("context", c_void_p),
    ("what", c_char_p),
    ("status", c_uint),
    ("last", c_void_p),
]
wt_value._fields_ = [
    ("number", c_double),
    ("text", c_char_p),
]
wt_field._fields_ = [
    ("name", c_char_p),
    ("kind", c_uint),
    ("fallback", c_char_p),
    ("help", c_char_p),
    ("offset", c_size_t),
    ("value", c_char_p),
    ("option", c_char_p),
    ("file", c_char_p),
    ("range", c_char_p),
    ("none", c_char_p),
    ("words", POINTER(c_char_p)),
    ("only", c_char_p),
    ("since", c_int64),
    ("letter", c_char_p),
    ("list", c_bool),
    ("item", c_uint),
]
wt_list._fields_ = [
    ("count", c_size_t),
    ("values", POINTER(wt_value)),
]
wt_problem_spec._fields_ = [
    ("size", c_size_t),
    ("target", c_char_p),
    ("law", c_uint),
    ("token_scale", c_double),
    ("noise", c_double),
    ("dim", c_size_t),
    ("keys", c_size_t),
    ("seed", c_uint64),
]
wt_target_info._fields_ = [
    ("form", c_char_p),
    ("formula", c_char_p),
]
wt_grid._fields_ = [
    ("count", c_size_t),
    ("values", c_void_p),
]
wt_model_spec._fields_ = [
    ("size", c_size_t),
    ("kind", c_uint),
    ("activation", c_uint),
    ("heads", c_size_t),
    ("width", c_size_t),
    ("bias", c_double),
    ("dim", c_size_t),
    ("keys", c_size_t),
    ("seed", c_uint64),
]
wt_ridge_options._fields_ = [
    ("size", c_size_t),
    ("rule", c_uint),
    ("lambda", c_double),
    ("path", c_void_p),
    ("path_count", c_size_t),
    ("standardize", c_bool),
    ("solver", c_uint),
]
wt_ridge_spec._fields_ = [
    ("size", c_size_t),
    ("lambda", wt_value),
    ("path", c_char_p),
    ("standardize", c_bool),
    ("solver", c_uint),
]
wt_fit_report._fields_ = [
    ("size", c_size_t),
    ("route", c_char_p),
    ("samples", c_size_t),
    ("features", c_size_t),
    ("outputs", c_size_t),
    ("lambda", c_double),
    ("train_error", c_double),
    ("loo_error", c_double),
    ("test_error", c_double),
    ("sum_norms", c_double),
    ("m_sum_squares", c_double),
    ("freedom", c_double),
    ("rank", c_size_t),
    ("condition", c_double),
    ("seconds", c_double),
    ("bytes", c_size_t),
    ("lambda_at_end", c_bool),
    ("out_of_time", c_bool),
]
wt_fit_cost._fields_ = [
    ("size", c_size_t),
    ("route", c_char_p),
    ("samples", c_size_t),
    ("features", c_size_t),
    ("flops", c_double),
    ("bytes", c_double),
]
wt_curve_point._fields_ = [
    ("n", c_size_t),
    ("lambda", c_double),
    ("test_error", c_double),
    ("train_error", c_double),
    ("loo_error", c_double),
    ("lambda_at_end", c_bool),
]
wt_ball_options._fields_ = [
    ("size", c_size_t),
    ("loss", c_uint),
    ("huber", c_double),
    ("k1", c_double),
    ("k2", c_double),
    ("tolerance", c_double),
    ("max_steps", c_size_t),
]
wt_ball_report._fields_ = [
    ("size", c_size_t),
    ("objective", c_double),
    ("objective_at_zero", c_double),
    ("lower_bound", c_double),
    ("gap", c_double),
    ("relative_gap", c_double),
    ("steps", c_size_t),
    ("passes", c_size_t),
    ("factorisations", c_size_t),
    ("sum_norms", c_double),
    ("m_sum_squares", c_double),
    ("sum_binds", c_bool),
    ("squares_bind", c_bool),
    ("reached", c_bool),
    ("test_loss", c_double),
]
wt_bound_spec._fields_ = [
    ("size", c_size_t),
    ("kind", c_uint),
    ("target", c_char_p),
    ("dim", c_size_t),
    ("keys", c_size_t),
    ("heads", c_size_t),
    ("samples", c_size_t),
    ("delta", c_double),
]
wt_bound._fields_ = [
    ("size", c_size_t),
    ("complexity_known", c_bool),
    ("log10_complexity", c_double),
    ("formula", c_char_p),
    ("risk_known", c_bool),
    ("log10_sample_term", c_double),
    ("log10_head_term", c_double),
    ("log10_risk", c_double),
    ("heads_suffice", c_double),
    ("heads_balanced", c_double),
    ("source", c_char_p),
    ("log10_over_rfa", c_double),
    ("unspecified", POINTER(c_char_p)),
]
wt_complexity._fields_ = [
    ("size", c_size_t),
    ("jitter", c_double),
    ("diagonal", c_double),
]
wt_capacity_spec._fields_ = [
    ("size", c_size_t),
    ("norms", c_void_p),
    ("deep", c_bool),
    ("residual", c_bool),
    ("dim", c_size_t),
    ("length", c_size_t),
    ("samples", c_size_t),
    ("epsilon", c_double),
    ("delta", c_double),
    ("lipschitz", c_double),
    ("loss_max", c_double),
]
wt_capacity._fields_ = [
    ("size", c_size_t),
    ("log_factor", c_double),
    ("constant", c_double),
    ("covering", c_double),
    ("range", c_double),
    ("vacuous", c_bool),
    ("capacity_term", c_double),
    ("confidence_term", c_double),
    ("gap", c_double),
    ("pseudo_natural", c_size_t),
    ("pseudo_binary", c_size_t),
    ("unspecified", POINTER(c_char_p)),
]
wt_array._fields_ = [
    ("name", c_char_p),
    ("type", c_uint),
    ("rank", c_size_t),
    ("shape", c_size_t * 8),
    ("count", c_size_t),
    ("bytes", c_size_t),
    ("fortran", c_bool),
    ("offset", c_uint64),
    ("member", c_uint64),
]
wt_metadata._fields_ = [
    ("key", c_char_p),
    ("value", c_char_p),
]
wt_summary._fields_ = [
    ("size", c_size_t),
    ("finite", c_size_t),
    ("nan", c_size_t),
    ("inf", c_size_t),
    ("min", c_double),
    ("max", c_double),
    ("mean", c_double),
]
wt_tensor._fields_ = [
    ("name", c_char_p),
    ("type", c_uint),
    ("rank", c_size_t),
    ("shape", c_size_t * 8),
    ("values", c_void_p),
]
wt_layer_form._fields_ = [
    ("size", c_size_t),
    ("bias", c_bool),
    ("mask", c_uint),
    ("residual", c_bool),
    ("norm", c_uint),
    ("epsilon", c_double),
]
wt_teacher_options._fields_ = [
    ("size", c_size_t),
    ("heads", c_size_t),
    ("dim", c_size_t),
    ("outputs", c_size_t),
    ("scale", c_double),
    ("rank", c_size_t),
    ("seed", c_uint64),
    ("parity", c_size_t),
    ("bias", c_bool),
    ("residual", c_bool),
    ("mask", c_uint),
    ("norm", c_uint),
    ("epsilon", c_double),
    ("groups", c_size_t),
]
wt_sequences_spec._fields_ = [
    ("size", c_size_t),
    ("last_row", c_bool),
    ("missing", c_bool),
]
wt_sequences_arrays._fields_ = [
    ("size", c_size_t),
    ("samples", c_size_t),
    ("length", c_size_t),
    ("dim", c_size_t),
    ("outputs", c_size_t),
    ("x", c_void_p),
    ("y", c_void_p),
    ("last_rows", c_bool),
    ("lengths", c_void_p),
    ("mask", c_void_p),
]
wt_token_rows._fields_ = [
    ("rows", c_size_t),
    ("values", c_void_p),
    ("fixed", c_bool),
    ("row", c_size_t),
]
wt_layer_draw_options._fields_ = [
    ("size", c_size_t),
    ("samples", c_size_t),
    ("length", c_size_t),
    ("shortest", c_size_t),
    ("dim", c_size_t),
    ("law", c_uint),
    ("token_scale", c_double),
    ("noise", c_double),
    ("seed", c_uint64),
    ("rows", POINTER(wt_token_rows)),
    ("add", POINTER(wt_token_rows)),
    ("add_count", c_size_t),
    ("gain", c_void_p),
    ("shift", c_void_p),
]
wt_checkpoint_options._fields_ = [
    ("size", c_size_t),
    ("heads", c_size_t),
    ("ignore_rope", c_bool),
    ("map", c_char_p),
]
wt_layer_export_options._fields_ = [
    ("size", c_size_t),
    ("as", c_char_p),
    ("rank", c_size_t),
]
wt_interval._fields_ = [
    ("value", c_double),
    ("low", c_double),
    ("high", c_double),
]
wt_affine_fit._fields_ = [
    ("intercept", wt_interval),
    ("slope", wt_interval),
    ("r_squared", c_double),
    ("squares", c_double),
    ("aic", c_double),
    ("bic", c_double),
]
wt_trials._fields_ = [
    ("m", c_double),
    ("successes", c_size_t),
    ("count", c_size_t),
]
wt_record._fields_ = [
    ("size", c_size_t),
    ("hash", c_char_p),
    ("experiment", c_char_p),
    ("parameters", c_char_p),
    ("seed", c_int64),
    ("result_version", c_int64),
    ("failed", c_bool),
    ("message", c_char_p),
    ("metrics", c_char_p),
    ("wall_seconds", c_double),
    ("version", c_char_p),
    ("machine", c_char_p),
    ("finished_date", c_char_p),
]
wt_store_count._fields_ = [
    ("size", c_size_t),
    ("done", c_size_t),
    ("failed", c_size_t),
    ("wall_seconds", c_double),
    ("disputed", c_size_t),
]
wt_export_options._fields_ = [
    ("size", c_size_t),
    ("format", c_uint),
    ("experiment", c_char_p),
    ("failed_only", c_bool),
    ("path", c_char_p),
    ("folder", c_char_p),
]
wt_merge_report._fields_ = [
    ("size", c_size_t),
    ("added", c_size_t),
    ("known", c_size_t),
    ("mended", c_size_t),
    ("differs", c_size_t),
    ("disputed", c_size_t),
]
wt_table_query._fields_ = [
    ("size", c_size_t),
    ("experiment", c_char_p),
    ("where", c_char_p),
    ("x", c_char_p),
    ("y", c_char_p),
    ("apart", c_char_p),
    ("rule", c_uint),
]
wt_table_row._fields_ = [
    ("line", c_size_t),
    ("x", c_double),
    ("y", wt_interval),
    ("repetitions", c_size_t),
]
wt_rules._fields_ = [
    ("version", c_int),
    ("seed", c_uint64),
    ("date", c_char_p),
    ("change", c_char_p),
]
wt_paper._fields_ = [
    ("number", c_char_p),
    ("subject", c_char_p),
    ("authors", c_char_p),
    ("title", c_char_p),
    ("where", c_char_p),
]
wt_claim._fields_ = [
    ("id", c_char_p),
    ("title", c_char_p),
    ("sentence", c_char_p),
    ("source", c_char_p),
]
wt_evidence._fields_ = [
    ("effect", wt_interval),
    ("cells", c_size_t),
    ("settings", c_size_t),
    ("repetitions", c_size_t),
    ("dropped", c_size_t),
    ("failed", c_size_t),
    ("censored", c_size_t),
    ("searched", c_bool),
]
wt_finding_part._fields_ = [
    ("name", c_char_p),
    ("effect", c_char_p),
    ("unit", c_char_p),
    ("boundary", c_double),
    ("above", c_bool),
    ("reason", c_char_p),
    ("rival", c_char_p),
    ("measured", POINTER(wt_evidence)),
    ("of_rival", POINTER(wt_evidence)),
    ("verdict", c_uint),
    ("rival_verdict", c_uint),
    ("more", c_double),
]
wt_finding._fields_ = [
    ("claim", POINTER(wt_claim)),
    ("first_part", c_size_t),
    ("part_count", c_size_t),
    ("verdict", c_uint),
]
wt_construction_spec._fields_ = [
    ("size", c_size_t),
    ("function", c_char_p),
    ("length", c_size_t),
    ("relevant", c_void_p),
    ("relevant_count", c_size_t),
    ("positions", c_uint),
    ("position_dim", c_size_t),
    ("heads", c_uint),
    ("tokens", c_uint),
    ("seed", c_uint64),
]
wt_construction_summary._fields_ = [
    ("size", c_size_t),
    ("length", c_size_t),
    ("bits", c_size_t),
    ("heads", c_size_t),
    ("dim", c_size_t),
    ("relevant", c_void_p),
    ("bag", c_bool),
    ("width1", c_size_t),
    ("width2", c_size_t),
    ("gap", c_double),
    ("strength", c_double),
    ("overlap", c_double),
    ("qk21", c_double),
    ("v21", c_double),
    ("v", c_double),
    ("x", c_double),
    ("cls", c_double),
]
wt_construction_report._fields_ = [
    ("size", c_size_t),
    ("promise", c_double),
    ("head_error", c_double),
    ("drawn_error", c_double),
    ("function_error", c_double),
    ("kept", c_bool),
]
wt_construction_least._fields_ = [
    ("size", c_size_t),
    ("strength", c_double),
    ("linear", c_double),
]
wt_curve_options._fields_ = [
    ("size", c_size_t),
    ("kind", c_char_p),
    ("heads", c_char_p),
    ("bias", c_char_p),
    ("activation", c_char_p),
    ("width", c_size_t),
    ("target", c_char_p),
    ("dim", c_char_p),
    ("keys", c_char_p),
    ("law", c_uint),
    ("token_scale", c_double),
    ("noise", c_double),
    ("n", c_char_p),
    ("reps", c_size_t),
    ("test_samples", c_size_t),
    ("data", c_void_p),
    ("holdout", c_double),
    ("lambda", wt_value),
    ("path", c_char_p),
    ("output", c_char_p),
    ("seed", c_uint64),
]
wt_curve_line._fields_ = [
    ("model", c_char_p),
    ("target", c_char_p),
    ("activation", c_char_p),
    ("dim", c_size_t),
    ("keys", c_size_t),
    ("heads", c_size_t),
    ("bias", c_double),
    ("rate", wt_interval),
]
wt_curve_summary._fields_ = [
    ("n", c_size_t),
    ("error", wt_interval),
    ("over_first", wt_interval),
]
wt_device_info._fields_ = [
    ("size", c_size_t),
    ("name", c_char_p),
    ("product", c_char_p),
    ("memory", c_size_t),
    ("used", c_size_t),
    ("peak", c_size_t),
    ("ranks", c_size_t),
    ("flops", c_double),
    ("bytes", c_double),
    ("messages", c_double),
]
wt_head_summary._fields_ = [
    ("size", c_size_t),
    ("diagonal_mean", c_double),
    ("diagonal_spread", c_double),
    ("off_mean", c_double),
    ("off_spread", c_double),
    ("standard_errors", c_double),
    ("identity", c_double),
    ("identity_share", c_double),
    ("effective_rank", c_double),
    ("rank", c_size_t),
    ("spectral", c_double),
    ("frobenius", c_double),
    ("columns_21", c_double),
    ("rows_21", c_double),
    ("symmetric", c_double),
    ("singular", c_double * 4),
    ("ov_singular", c_double * 4),
    ("ov_effective_rank", c_double),
    ("ov_frobenius", c_double),
    ("layer", c_size_t),
    ("head", c_size_t),
    ("dim", c_size_t),
]
wt_inspect_options._fields_ = [
    ("size", c_size_t),
    ("heads", c_size_t),
    ("map", c_char_p),
    ("fold", c_bool),
    ("layers", c_void_p),
    ("only", c_void_p),
    ("layer_count", c_size_t),
    ("only_count", c_size_t),
]
wt_network_spec._fields_ = [
    ("size", c_size_t),
    ("kind", c_char_p),
    ("length", c_size_t),
    ("dim", c_size_t),
    ("heads", c_size_t),
    ("hidden", c_size_t),
    ("embedding_drop", c_double),
    ("attention_drop", c_double),
    ("block_drop", c_double),
    ("fixed_positions", c_bool),
    ("activation", c_char_p),
]
wt_network_tensor._fields_ = [
    ("name", c_char_p),
    ("rows", c_size_t),
    ("columns", c_size_t),
    ("vector", c_bool),
    ("offset", c_size_t),
    ("fixed", c_bool),
]
wt_network_result._fields_ = [
    ("size", c_size_t),
    ("loss", c_double),
    ("miss", c_double),
    ("correct", c_size_t),
    ("samples", c_size_t),
]
wt_meter._fields_ = [
    ("context", c_void_p),
    ("what", c_char_p),
    ("total", c_double),
    ("began", c_double),
    ("share", c_double),
    ("done", c_double),
    ("phase", c_char_p),
]
wt_recover_options._fields_ = [
    ("size", c_size_t),
    ("heads", c_size_t),
    ("restarts", c_size_t),
    ("holdout", c_double),
    ("seed", c_uint64),
    ("max_steps", c_size_t),
    ("goal", c_double),
    ("start", c_void_p),
    ("matrix_free", c_bool),
    ("method", c_char_p),
    ("teacher", c_void_p),
    ("bias", c_bool),
    ("residual", c_bool),
    ("mask", c_uint),
    ("norm", c_uint),
    ("epsilon", c_double),
    ("rank", c_size_t),
    ("forms", c_uint),
    ("groups", c_size_t),
]
wt_recover_method._fields_ = [
    ("name", c_char_p),
    ("steps", c_size_t),
    ("asks", c_bool),
]
wt_recover_report._fields_ = [
    ("size", c_size_t),
    ("method", c_char_p),
    ("verdict", c_uint),
    ("recovered", c_bool),
    ("exact", c_bool),
    ("goal", c_double),
    ("reason", c_char * 256),
    ("misfit_chance", c_double),
    ("misfit_part", c_double),
    ("misfit_visible", c_double),
    ("misfit_kind", c_char_p),
    ("heads", c_size_t),
    ("start", c_size_t),
    ("starts", c_size_t),
    ("start_from", c_char_p),
    ("steps", c_size_t),
    ("products", c_size_t),
    ("flops", c_double),
    ("train_error", c_double),
    ("holdout_error", c_double),
    ("condition", c_double),
    ("least_examples", c_double),
    ("examples", c_size_t),
    ("dim", c_size_t),
    ("rank", c_size_t),
    ("seconds", c_double),
    ("warnings", c_size_t),
    ("warning", c_char * 256 * 8),
    ("form", c_char * 64),
    ("forms", c_size_t),
    ("out_of_time", c_bool),
]
wt_head_match._fields_ = [
    ("a", c_size_t),
    ("b", c_size_t),
    ("theta_error", c_double),
    ("w_error", c_double),
]
wt_comparison._fields_ = [
    ("size", c_size_t),
    ("heads_a", c_size_t),
    ("heads_b", c_size_t),
    ("matches", c_size_t),
    ("match", POINTER(wt_head_match)),
    ("theta_error", c_double),
    ("w_error", c_double),
    ("length", c_size_t * 3),
    ("distance", c_double * 3),
    ("c_error", c_double),
    ("dim", c_size_t),
    ("rank", c_size_t),
    ("off_origin", c_bool),
    ("data_output", c_double),
    ("data_difference", c_double),
]
wt_compare_options._fields_ = [
    ("size", c_size_t),
    ("token_scale", c_double),
    ("seed", c_uint64),
    ("data", c_void_p),
]
wt_query_options._fields_ = [
    ("size", c_size_t),
    ("heads", c_size_t),
    ("checks", c_size_t),
    ("restarts", c_size_t),
    ("tolerance", c_double),
    ("seed", c_uint64),
    ("bias", c_bool),
    ("residual", c_bool),
    ("mask", c_uint),
    ("norm", c_uint),
    ("epsilon", c_double),
    ("rank", c_size_t),
    ("forms", c_uint),
    ("questions", c_size_t),
]
wt_query_report._fields_ = [
    ("size", c_size_t),
    ("heads", c_size_t),
    ("dim", c_size_t),
    ("outputs", c_size_t),
    ("start_queries", c_size_t),
    ("polish_queries", c_size_t),
    ("check_queries", c_size_t),
    ("start_residual", c_double),
    ("residual", c_double),
    ("check_error", c_double),
    ("starts", c_size_t),
    ("steps", c_size_t),
    ("reached", c_bool),
    ("flops", c_double),
    ("out_of_time", c_bool),
    ("out_of_questions", c_bool),
    ("tolerance", c_double),
    ("form", c_char * 64),
    ("forms", c_size_t),
]
wt_stream._fields_ = [
    ("seed", c_uint64),
    ("stream", c_uint64),
]
wt_series._fields_ = [
    ("name", c_char_p),
    ("mark", c_uint),
    ("look", c_size_t),
    ("count", c_size_t),
    ("x", c_void_p),
    ("y", c_void_p),
    ("low", c_void_p),
    ("high", c_void_p),
    ("open", c_void_p),
]
wt_axis._fields_ = [
    ("label", c_char_p),
    ("log", c_bool),
    ("low", c_double),
    ("high", c_double),
]
wt_panel._fields_ = [
    ("title", c_char_p),
    ("x", wt_axis),
    ("y", wt_axis),
    ("series", POINTER(wt_series)),
    ("series_count", c_size_t),
    ("heat", c_void_p),
    ("heat_rows", c_size_t),
    ("heat_columns", c_size_t),
    ("heat_low", c_double),
    ("heat_high", c_double),
    ("heat_legend", c_char_p),
]
wt_figure._fields_ = [
    ("size", c_size_t),
    ("panel_size", c_size_t),
    ("series_size", c_size_t),
    ("title", c_char_p),
    ("panels", POINTER(wt_panel)),
    ("panel_count", c_size_t),
    ("columns", c_size_t),
    ("share_y", c_bool),
    ("heat_limit", c_double),
    ("legend", c_char_p),
    ("heat_aspect", c_double),
]
wt_report_summary._fields_ = [
    ("size", c_size_t),
    ("cells", c_size_t),
    ("figures", c_size_t),
    ("drawn", c_bool),
    ("why", c_char * 1024),
]
wt_report_options._fields_ = [
    ("size", c_size_t),
    ("checkpoints", POINTER(c_char_p)),
    ("checkpoint_count", c_size_t),
]
wt_shard._fields_ = [
    ("index", c_size_t),
    ("count", c_size_t),
]
wt_plan_count._fields_ = [
    ("size", c_size_t),
    ("cells", c_size_t),
    ("groups", c_size_t),
    ("done", c_size_t),
    ("failed", c_size_t),
    ("wanted", c_size_t),
]
wt_plan_cost._fields_ = [
    ("size", c_size_t),
    ("seconds", c_double),
    ("bytes", c_double),
]
wt_sweep_options._fields_ = [
    ("size", c_size_t),
    ("workers", c_size_t),
    ("command", c_char_p),
    ("version", c_char_p),
    ("machine", c_char_p),
]
wt_sweep_report._fields_ = [
    ("size", c_size_t),
    ("done", c_size_t),
    ("failed", c_size_t),
    ("seconds", c_double),
]
wt_reproduction_sweep._fields_ = [
    ("line", c_char_p),
    ("scale", c_char_p),
    ("what", c_char_p),
    ("sweep", c_char_p),
]
wt_reproduction_report._fields_ = [
    ("size", c_size_t),
    ("before", c_size_t),
    ("done", c_size_t),
    ("failed", c_size_t),
    ("seconds", c_double),
]
wt_sculpt_report._fields_ = [
    ("size", c_size_t),
    ("stage", c_uint),
    ("crude_explained", c_double),
    ("crude_error", c_double),
    ("rows", c_size_t),
    ("accepted", c_size_t),
    ("rounds", c_size_t),
    ("median_residual", c_double),
    ("largest_residual", c_double),
    ("sum_error", c_double),
    ("slabs", c_size_t),
    ("value_count", c_size_t),
    ("values", c_double * 6),
    ("median_value", c_double),
    ("heads", c_size_t),
    ("gap", c_double),
    ("hull_error", c_double),
    ("net_points", c_size_t),
    ("tuples", c_size_t),
    ("start_error", c_double),
    ("seconds", c_double),
    ("flops", c_double),
]
wt_certificate_options._fields_ = [
    ("size", c_size_t),
    ("part", c_double),
    ("directions", c_size_t),
    ("seed", c_uint64),
    ("teacher", c_void_p),
]
wt_certificate_result._fields_ = [
    ("size", c_size_t),
    ("rows", c_size_t),
    ("slabs", c_size_t),
    ("eta", c_double),
    ("directions", c_size_t),
    ("theta_size", c_double),
    ("median", c_double),
    ("largest", c_double),
    ("frobenius_factor", c_double),
    ("teacher_heads", c_size_t),
    ("teacher_inside", c_size_t),
    ("seconds", c_double),
]
wt_search_result._fields_ = [
    ("size", c_size_t),
    ("bits", c_size_t),
    ("errors", c_size_t),
    ("found", c_size_t),
    ("complete", c_bool),
    ("looked", c_uint64),
    ("position", c_void_p),
]
wt_parity_result._fields_ = [
    ("size", c_size_t),
    ("consistent", c_bool),
    ("rank", c_size_t),
    ("dimension", c_size_t),
    ("least_known", c_bool),
    ("least", c_size_t),
    ("least_count", c_size_t),
    ("member", c_void_p),
]
wt_search_options._fields_ = [
    ("size", c_size_t),
    ("task", c_char_p),
    ("method", c_uint),
    ("probability", c_double),
    ("noise", c_double),
    ("length", c_char_p),
    ("samples", c_char_p),
    ("trials", c_size_t),
    ("rate", c_double),
    ("output", c_char_p),
    ("seed", c_uint64),
]
wt_search_point._fields_ = [
    ("samples", c_size_t),
    ("unique", c_bool),
    ("success", c_bool),
    ("errors", c_size_t),
    ("looked", c_uint64),
]
wt_search_row._fields_ = [
    ("length", c_size_t),
    ("samples", c_size_t),
    ("successes", c_size_t),
    ("trials", c_size_t),
    ("rate", wt_interval),
    ("looked", c_double),
]
wt_submit_options._fields_ = [
    ("size", c_size_t),
    ("launcher", c_uint),
    ("tasks", c_size_t),
    ("throttle", c_size_t),
    ("seconds", c_double),
    ("cpus", c_size_t),
    ("memory", c_size_t),
    ("gpus", c_size_t),
    ("partition", c_char_p),
    ("extra", c_char_p),
    ("device", c_char_p),
    ("program", c_char_p),
]
wt_submit_report._fields_ = [
    ("size", c_size_t),
    ("cells", c_size_t),
    ("done", c_size_t),
    ("failed", c_size_t),
    ("under_way", c_size_t),
    ("wanted", c_size_t),
    ("tasks", c_size_t),
    ("seconds", c_double),
    ("work", c_double),
    ("bytes", c_double),
    ("jobs", c_char * 256),
]
wt_task_count._fields_ = [
    ("state", c_char * 24),
    ("tasks", c_size_t),
]
wt_folder_state._fields_ = [
    ("size", c_size_t),
    ("cells", c_size_t),
    ("done", c_size_t),
    ("failed", c_size_t),
    ("tasks", c_size_t),
    ("active", c_size_t),
    ("state_count", c_size_t),
    ("states", wt_task_count * 12),
    ("scheduler", c_bool),
    ("rate", c_double),
    ("left", c_double),
]
wt_train_spec._fields_ = [
    ("size", c_size_t),
    ("task", c_char_p),
    ("length", c_size_t),
    ("relevant", c_void_p),
    ("relevant_count", c_size_t),
    ("probability", c_double),
    ("noise", c_double),
    ("model", c_char_p),
    ("dim", c_size_t),
    ("heads", c_size_t),
    ("hidden", c_size_t),
    ("activation", c_char_p),
    ("dropout", c_double),
    ("embedding_dropout", c_double),
    ("attention_dropout", c_double),
    ("block_dropout", c_double),
    ("samples", c_size_t),
    ("online", c_size_t),
    ("rate", c_double),
    ("weight_decay", c_double),
    ("clip", c_double),
    ("balls", c_char_p),
    ("init_scale", c_double),
    ("steps", c_size_t),
    ("validate", c_size_t),
    ("validation_samples", c_size_t),
    ("success", c_double),
    ("settle", c_double),
    ("restarts", c_size_t),
    ("loss_mark", c_double),
    ("seed", c_uint64),
    ("fixed_positions", c_bool),
    ("keep_ambiguous", c_bool),
    ("decoupled", c_bool),
    ("to_end", c_bool),
    ("hasty", c_bool),
]
wt_train_point._fields_ = [
    ("run", c_size_t),
    ("step", c_size_t),
    ("loss", c_double),
    ("train_accuracy", c_double),
    ("validation_accuracy", c_double),
]
wt_train_result._fields_ = [
    ("size", c_size_t),
    ("success", c_bool),
    ("runs", c_size_t),
    ("success_step", c_size_t),
    ("mark_step", c_size_t),
    ("leave_step", c_size_t),
    ("low_step", c_size_t),
    ("steps", c_size_t),
    ("settled", c_bool),
    ("best_accuracy", c_double),
    ("loss", c_double),
    ("train_accuracy", c_double),
    ("redrawn", c_size_t),
    ("seconds", c_double),
]
wt_train_norm._fields_ = [
    ("name", c_char * 32),
    ("rows", c_size_t),
    ("columns", c_size_t),
    ("spectral", c_double),
    ("frobenius", c_double),
    ("two_one", c_double),
]
wt_train_measure._fields_ = [
    ("size", c_size_t),
    ("train_loss", c_double),
    ("train_accuracy", c_double),
    ("test_loss", c_double),
    ("test_accuracy", c_double),
    ("gap", c_double),
    ("gap_low", c_double),
    ("gap_high", c_double),
    ("train_miss", c_double),
    ("test_miss", c_double),
    ("norm_count", c_size_t),
    ("norms", POINTER(wt_train_norm)),
    ("heads", c_size_t),
    ("positions", c_size_t),
    ("mass", c_double),
    ("best_mass", c_double),
    ("best_head", c_size_t),
    ("attention", c_void_p),
]
wt_threshold_spec._fields_ = [
    ("size", c_size_t),
    ("train", POINTER(wt_train_spec)),
    ("lengths", c_void_p),
    ("length_count", c_size_t),
    ("low", c_size_t),
    ("high", c_size_t),
    ("resolution", c_size_t),
    ("trials", c_size_t),
    ("rate", c_double),
    ("all_trials", c_bool),
    ("around", c_size_t),
    ("seed", c_uint64),
    ("as_made", c_bool),
]
wt_threshold_cell._fields_ = [
    ("length", c_size_t),
    ("samples", c_size_t),
    ("successes", c_size_t),
    ("trials", c_size_t),
    ("rate", wt_interval),
]
wt_threshold_point._fields_ = [
    ("length", c_size_t),
    ("censoring", c_uint),
    ("critical", c_size_t),
    ("largest", c_size_t),
    ("fitted", wt_interval),
    ("first_cell", c_size_t),
    ("cells", c_size_t),
]
wt_threshold_fit_row._fields_ = [
    ("growth", c_uint),
    ("fit", wt_affine_fit),
]
wt_threshold_summary._fields_ = [
    ("size", c_size_t),
    ("points", POINTER(wt_threshold_point)),
    ("point_count", c_size_t),
    ("cells", POINTER(wt_threshold_cell)),
    ("cell_count", c_size_t),
    ("fitted_points", c_size_t),
    ("fits", wt_threshold_fit_row * 3),
    ("exponent", wt_interval),
]


class Library:
    """The functions, as bind() leaves them."""
    wt_status_name: Callable[[int], bytes]
    wt_status_exit_code: Callable[[int], int]
    wt_version: Callable[[], bytes]
    wt_context_new: Callable[[Any], int]
    wt_context_free: Callable[[Any], None]
    wt_context_set_threads: Callable[[Any, int], int]
    wt_context_threads: Callable[[Any], int]
    wt_context_set_memory: Callable[[Any, int], None]
    wt_context_memory: Callable[[Any], int]
    wt_context_memory_used: Callable[[Any], int]
    wt_context_memory_peak: Callable[[Any], int]
    wt_context_message: Callable[[Any], bytes]
    wt_context_cancel: Callable[[Any], None]
    wt_context_cancelled: Callable[[Any], bool]
    wt_context_resume: Callable[[Any], None]
    wt_context_set_time_limit: Callable[[Any, float], int]
    wt_context_out_of_time: Callable[[Any], bool]
    wt_context_set_log: Callable[[Any, Any, Any], None]
    wt_context_set_progress: Callable[[Any, Any, Any], None]
    wt_progress_format: Callable[[Any, Any, int], bytes]
    wt_blas_choice_name: Callable[[int], bytes]
    wt_blas_open: Callable[[Any, Any], int]
    wt_boolean_new: Callable[[Any, Any, Any], int]
    wt_boolean_free: Callable[[Any], None]
    wt_boolean_bits: Callable[[Any], int]
    wt_boolean_symmetric: Callable[[Any], bool]
    wt_boolean_value: Callable[[Any, int], int]
    wt_boolean_mean: Callable[[Any, float], float]
    wt_boolean_balance: Callable[[Any], float]
    wt_bits_new: Callable[[Any, int, int, Any], int]
    wt_bits_new_from: Callable[[Any, int, int, Any, Any, Any], int]
    wt_bits_load: Callable[[Any, Any, Any], int]
    wt_bits_load_inputs: Callable[[Any, Any, Any, Any], int]
    wt_bits_split: Callable[[Any, Any, float, int, Any, Any], int]
    wt_bits_free: Callable[[Any], None]
    wt_bits_samples: Callable[[Any], int]
    wt_bits_length: Callable[[Any], int]
    wt_bits_sample: Callable[[Any, int], Any]
    wt_bits_labels: Callable[[Any], Any]
    wt_sparse_spec_init: Callable[[Any, int], None]
    wt_sparse_task_new: Callable[[Any, Any, Any], int]
    wt_sparse_task_free: Callable[[Any], None]
    wt_sparse_task_function: Callable[[Any], Any]
    wt_sparse_task_relevant: Callable[[Any], Any]
    wt_sparse_task_probability: Callable[[Any], float]
    wt_sparse_task_draw: Callable[[Any, Any, Any, int, bool, Any], int]
    wt_sparse_task_label: Callable[[Any, Any], int]
    wt_allocate: Callable[[Any, Any, int, int, Any], int]
    wt_allocate_zero: Callable[[Any, Any, int, int, Any], int]
    wt_release: Callable[[Any], None]
    wt_grow: Callable[[Any, Any, int, Any, int, Any], int]
    wt_product: Callable[[int, int], int]
    wt_copy_text: Callable[[Any, Any, Any, Any], int]
    wt_arena_start: Callable[[Any, Any], wt_arena]
    wt_arena_take: Callable[[Any, int, bool, Any, int], Any]
    wt_arena_free: Callable[[Any], None]
    wt_field_at: Callable[[Any, int, int], Any]
    wt_field_find: Callable[[Any, int, Any], Any]
    wt_field_option: Callable[[Any], bytes]
    wt_field_parse: Callable[[Any, Any, Any, Any], int]
    wt_field_check: Callable[[Any, Any, wt_value], int]
    wt_field_print: Callable[[Any, wt_value, Any], bytes]
    wt_field_list: Callable[[Any, Any, Any, Any], int]
    wt_field_get: Callable[[Any, Any], wt_value]
    wt_field_is_none: Callable[[Any, Any], bool]
    wt_field_set: Callable[[Any, wt_value, Any], None]
    wt_law_parse: Callable[[Any, Any, Any], int]
    wt_law_name: Callable[[int], bytes]
    wt_law_set_scale: Callable[[int, int], float]
    wt_sets_new: Callable[[Any, int, int, int, int, bool, Any], int]
    wt_sets_borrow: Callable[[Any, int, int, int, int, Any, Any, Any, Any, Any], int]
    wt_sets_free: Callable[[Any], None]
    wt_sets_samples: Callable[[Any], int]
    wt_sets_keys: Callable[[Any], int]
    wt_sets_dim: Callable[[Any], int]
    wt_sets_outputs: Callable[[Any], int]
    wt_sets_query: Callable[[Any], Any]
    wt_sets_key: Callable[[Any], Any]
    wt_sets_mask: Callable[[Any], Any]
    wt_sets_y: Callable[[Any], Any]
    wt_sets_check: Callable[[Any, Any, Any], int]
    wt_sets_load: Callable[[Any, Any, Any], int]
    wt_sets_save: Callable[[Any, Any, Any, Any], int]
    wt_problem_spec_init: Callable[[Any, int], None]
    wt_problem_fields: Callable[[Any], Any]
    wt_problem_new: Callable[[Any, Any, Any], int]
    wt_problem_free: Callable[[Any], None]
    wt_problem_beta: Callable[[Any], Any]
    wt_problem_get_spec: Callable[[Any], Any]
    wt_problem_draw: Callable[[Any, Any, int, Any], int]
    wt_problem_label: Callable[[Any, Any, int, Any], int]
    wt_target_at: Callable[[int], Any]
    wt_integer_parse: Callable[[Any, Any], bool]
    wt_unsigned_parse: Callable[[Any, Any], bool]
    wt_real_parse: Callable[[Any, Any], bool]
    wt_bytes_parse: Callable[[Any, Any], bool]
    wt_bytes_format: Callable[[int, Any], bytes]
    wt_seconds_parse: Callable[[Any, Any], bool]
    wt_seconds_format: Callable[[float, Any], bytes]
    wt_utf8_valid: Callable[[Any], bool]
    wt_utf8_trim: Callable[[Any], None]
    wt_show_character: Callable[[Any, int, Any], int]
    wt_show: Callable[[Any, Any, int], int]
    wt_edit_distance: Callable[[Any, Any], int]
    wt_quote: Callable[[Any, Any, int], bytes]
    wt_shell_word: Callable[[Any, Any, int], int]
    wt_grid_parse: Callable[[Any, Any, Any], int]
    wt_grid_parse_integers: Callable[[Any, Any, Any], int]
    wt_grid_free: Callable[[Any], None]
    wt_range_parse: Callable[[Any, Any, Any, Any], int]
    wt_model_kind_parse: Callable[[Any, Any, Any], int]
    wt_model_kind_name: Callable[[int], bytes]
    wt_model_kind_infinite: Callable[[int], bool]
    wt_activation_parse: Callable[[Any, Any, Any], int]
    wt_activation_name: Callable[[int], bytes]
    wt_model_spec_init: Callable[[Any, int], None]
    wt_model_fields: Callable[[Any], Any]
    wt_model_spec_check: Callable[[Any, Any], int]
    wt_fitted_free: Callable[[Any], None]
    wt_fitted_predict: Callable[[Any, Any, Any, Any], int]
    wt_fitted_outputs: Callable[[Any], int]
    wt_fitted_get_spec: Callable[[Any], Any]
    wt_fitted_score: Callable[[Any, Any, Any, Any, Any], int]
    wt_fitted_save: Callable[[Any, Any, Any], int]
    wt_fitted_load: Callable[[Any, Any, Any], int]
    wt_lambda_name: Callable[[int], bytes]
    wt_ridge_options_init: Callable[[Any, int], None]
    wt_ridge_spec_init: Callable[[Any, int], None]
    wt_ridge_fields: Callable[[Any], Any]
    wt_ridge_spec_read: Callable[[Any, Any, Any, Any], int]
    wt_ridge_fit: Callable[[Any, Any, Any, Any, Any, Any, Any], int]
    wt_ridge_fit_problem: Callable[[Any, Any, Any, Any, int, Any, Any, Any], int]
    wt_ridge_cost: Callable[[Any, Any, Any, int, int, bool, Any], int]
    wt_ridge_curve: Callable[[Any, Any, Any, Any, Any, Any, Any, int, int, Any, int, Any], int]
    wt_loss_parse: Callable[[Any, Any, Any], int]
    wt_loss_name: Callable[[int], bytes]
    wt_ball_options_init: Callable[[Any, int], None]
    wt_ball_fit: Callable[[Any, Any, Any, Any, Any, Any, Any], int]
    wt_bound_spec_init: Callable[[Any, int], None]
    wt_bound_compute: Callable[[Any, Any, Any], int]
    wt_complexity_measure: Callable[[Any, Any, Any, Any, int, Any, Any], int]
    wt_model_norms_new: Callable[[Any, int, int, Any], int]
    wt_model_norm_name: Callable[[int], bytes]
    wt_model_norms_parse: Callable[[Any, Any, bool, int, int, Any], int]
    wt_model_norms_load_head: Callable[[Any, Any, Any], int]
    wt_model_norms_load_transformer: Callable[[Any, Any, int, Any], int]
    wt_model_norms_free: Callable[[Any], None]
    wt_model_norms_layers: Callable[[Any], int]
    wt_model_norms_heads: Callable[[Any], int]
    wt_model_norms_dim: Callable[[Any], int]
    wt_model_norms_length: Callable[[Any], int]
    wt_model_norms_get: Callable[[Any, int, int, int], float]
    wt_model_norms_set: Callable[[Any, Any, int, int, int, float], int]
    wt_model_norms_outside: Callable[[Any], Any]
    wt_capacity_spec_init: Callable[[Any, int], None]
    wt_capacity_compute: Callable[[Any, Any, Any, Any], int]
    wt_type_name: Callable[[int], bytes]
    wt_type_bytes: Callable[[int], int]
    wt_file_open: Callable[[Any, Any, Any], int]
    wt_file_free: Callable[[Any], None]
    wt_file_format: Callable[[Any], bytes]
    wt_file_path: Callable[[Any], bytes]
    wt_file_bytes: Callable[[Any], int]
    wt_file_count: Callable[[Any], int]
    wt_file_at: Callable[[Any, int], Any]
    wt_file_find: Callable[[Any, Any], Any]
    wt_file_expect: Callable[[Any, Any, Any, Any], int]
    wt_file_metadata: Callable[[Any, Any], bytes]
    wt_file_metadata_count: Callable[[Any], int]
    wt_file_metadata_at: Callable[[Any, int], Any]
    wt_file_read: Callable[[Any, Any, Any, Any], int]
    wt_file_walk: Callable[[Any, Any, Any, Any, Any], int]
    wt_file_summarise: Callable[[Any, Any, Any, Any], int]
    wt_values_check_finite: Callable[[Any, Any, Any, int, Any], int]
    wt_npy_write: Callable[[Any, Any, Any], int]
    wt_npz_write: Callable[[Any, Any, Any, int], int]
    wt_safetensors_write: Callable[[Any, Any, Any, int, Any, int], int]
    wt_layer_form_init: Callable[[Any, int], None]
    wt_layer_form_print: Callable[[Any, Any], bytes]
    wt_layer_new: Callable[[Any, int, int, int, Any], int]
    wt_layer_new_form: Callable[[Any, int, int, int, Any, Any], int]
    wt_layer_free: Callable[[Any], None]
    wt_layer_copy: Callable[[Any, Any, Any], int]
    wt_layer_keep: Callable[[Any, Any, int, Any, Any], int]
    wt_layer_heads: Callable[[Any], int]
    wt_layer_dim: Callable[[Any], int]
    wt_layer_outputs: Callable[[Any], int]
    wt_layer_get_form: Callable[[Any, Any, Any], int]
    wt_layer_theta: Callable[[Any], Any]
    wt_layer_w: Callable[[Any], Any]
    wt_layer_c: Callable[[Any], Any]
    wt_layer_load: Callable[[Any, Any, Any], int]
    wt_layer_save: Callable[[Any, Any, Any], int]
    wt_layer_save_noted: Callable[[Any, Any, Any, Any, int], int]
    wt_layer_forward: Callable[[Any, Any, int, int, Any, Any], int]
    wt_layer_apply: Callable[[Any, Any, Any], int]
    wt_layer_evaluate: Callable[[Any, Any, Any, Any, Any], int]
    wt_teacher_options_init: Callable[[Any, int], None]
    wt_teacher_fields: Callable[[Any], Any]
    wt_layer_teacher: Callable[[Any, Any, Any], int]
    wt_layer_zero_sum: Callable[[Any], None]
    wt_layer_parity: Callable[[Any, int, int, Any], int]
    wt_sequences_new: Callable[[Any, int, int, int, int, Any], int]
    wt_sequences_free: Callable[[Any], None]
    wt_sequences_samples: Callable[[Any], int]
    wt_sequences_length: Callable[[Any], int]
    wt_sequences_dim: Callable[[Any], int]
    wt_sequences_outputs: Callable[[Any], int]
    wt_sequences_x: Callable[[Any], Any]
    wt_sequences_y: Callable[[Any], Any]
    wt_sequences_lengths: Callable[[Any], Any]
    wt_sequences_set_lengths: Callable[[Any, Any, Any], int]
    wt_sequences_set_missing: Callable[[Any, Any], int]
    wt_sequences_check: Callable[[Any, Any, Any], int]
    wt_sequences_load: Callable[[Any, Any, Any], int]
    wt_sequences_spec_init: Callable[[Any, int], None]
    wt_sequences_load_as: Callable[[Any, Any, Any, Any], int]
    wt_sequences_borrow: Callable[[Any, Any, Any, Any], int]
    wt_sequences_save: Callable[[Any, Any, Any], int]
    wt_layer_draw: Callable[[Any, Any, int, float, float, int, int, Any], int]
    wt_token_rows_load: Callable[[Any, Any, int, Any], int]
    wt_token_rows_free: Callable[[Any], None]
    wt_token_norm_load: Callable[[Any, Any, int, Any, Any], int]
    wt_layer_draw_options_init: Callable[[Any, int], None]
    wt_layer_draw_as: Callable[[Any, Any, Any, Any], int]
    wt_layer_label: Callable[[Any, Any, float, int, int, Any], int]
    wt_checkpoint_options_init: Callable[[Any, int], None]
    wt_checkpoint_open: Callable[[Any, Any, Any, Any], int]
    wt_checkpoint_free: Callable[[Any], None]
    wt_checkpoint_scheme: Callable[[Any], bytes]
    wt_checkpoint_layers: Callable[[Any], int]
    wt_checkpoint_heads: Callable[[Any], int]
    wt_checkpoint_stem: Callable[[Any, int], bytes]
    wt_checkpoint_rope: Callable[[Any], bytes]
    wt_checkpoint_left_out: Callable[[Any], bytes]
    wt_checkpoint_layer: Callable[[Any, Any, int, bool, Any], int]
    wt_layer_open: Callable[[Any, Any, Any, int, bool, Any], int]
    wt_layer_export_options_init: Callable[[Any, int], None]
    wt_layer_export: Callable[[Any, Any, Any, Any, Any], int]
    wt_mean_interval: Callable[[Any, int], wt_interval]
    wt_rate_interval: Callable[[int, int], wt_interval]
    wt_growth_name: Callable[[int], bytes]
    wt_affine_fit_compute: Callable[[Any, int, Any, Any, int, int, Any], int]
    wt_growth_exponent: Callable[[Any, Any, int], float]
    wt_exponent_format: Callable[[float, Any], bytes]
    wt_trials_critical: Callable[[Any, Any, int, float, Any], int]
    wt_output_open: Callable[[Any, Any, Any], int]
    wt_output_check: Callable[[Any, Any], int]
    wt_output_spool: Callable[[Any, Any, Any], int]
    wt_output_write: Callable[[Any, Any, int], int]
    wt_output_print: Callable[..., int]
    wt_output_status: Callable[[Any], int]
    wt_output_walk: Callable[[Any, Any, Any], int]
    wt_output_commit: Callable[[Any], int]
    wt_output_free: Callable[[Any], None]
    wt_lock_open: Callable[[Any, Any, Any], int]
    wt_lock_free: Callable[[Any], None]
    wt_store_open: Callable[[Any, Any, int, Any], int]
    wt_store_free: Callable[[Any], None]
    wt_store_path: Callable[[Any], bytes]
    wt_store_walk: Callable[[Any, Any, Any, Any, Any], int]
    wt_store_hold: Callable[[Any, Any], int]
    wt_store_let_go: Callable[[Any], None]
    wt_store_walk_notes: Callable[[Any, Any, Any, Any], int]
    wt_store_note: Callable[[Any, Any, Any, Any], int]
    wt_record_hash: Callable[[Any, Any, Any], int]
    wt_store_put: Callable[[Any, Any, Any], int]
    wt_store_commit: Callable[[Any, Any], int]
    wt_store_rollback: Callable[[Any], None]
    wt_store_counts: Callable[[Any, Any, Any], int]
    wt_export_options_init: Callable[[Any, int], None]
    wt_store_export: Callable[[Any, Any, Any, Any], int]
    wt_store_merge: Callable[[Any, Any, Any, Any], int]
    wt_store_walk_disputes: Callable[[Any, Any, Any, Any], int]
    wt_results_load: Callable[[Any, Any, Any], int]
    wt_results_free: Callable[[Any], None]
    wt_results_done: Callable[[Any], int]
    wt_results_failed: Callable[[Any], int]
    wt_table_query_init: Callable[[Any, int], None]
    wt_results_table: Callable[[Any, Any, Any, Any], int]
    wt_table_free: Callable[[Any], None]
    wt_table_row_at: Callable[[Any, int], Any]
    wt_table_setting: Callable[[Any, int, Any, Any, int], bytes]
    wt_verdict_name: Callable[[int], bytes]
    wt_rules_at: Callable[[int], Any]
    wt_rules_now: Callable[[], Any]
    wt_seed_explored: Callable[[int], bool]
    wt_paper_at: Callable[[int], Any]
    wt_evidence_measured: Callable[[Any], bool]
    wt_findings_measure: Callable[[Any, Any, Any], int]
    wt_findings_free: Callable[[Any], None]
    wt_findings_claim_at: Callable[[Any, int], Any]
    wt_findings_part_at: Callable[[Any, int], Any]
    wt_findings_explored: Callable[[Any], int]
    wt_construction_spec_init: Callable[[Any, int], None]
    wt_construction_fields: Callable[[Any], Any]
    wt_construction_spec_check: Callable[[Any, Any], int]
    wt_construction_new: Callable[[Any, Any, Any], int]
    wt_construction_free: Callable[[Any], None]
    wt_construction_summarise: Callable[[Any, Any, Any], int]
    wt_construction_run: Callable[[Any, Any, Any, Any, Any], int]
    wt_construction_check: Callable[[Any, Any, int, int, Any], int]
    wt_construction_set_strength: Callable[[Any, float], None]
    wt_construction_find_least: Callable[[Any, Any, Any], int]
    wt_construction_save: Callable[[Any, Any, Any], int]
    wt_construction_load: Callable[[Any, Any, Any], int]
    wt_curve_options_init: Callable[[Any, int], None]
    wt_curve_fields: Callable[[Any], Any]
    wt_curves_run: Callable[[Any, Any, Any], int]
    wt_curves_free: Callable[[Any], None]
    wt_curves_count: Callable[[Any], int]
    wt_curves_reps: Callable[[Any], int]
    wt_curves_size_count: Callable[[Any], int]
    wt_curves_line_at: Callable[[Any, int], Any]
    wt_curves_summary_at: Callable[[Any, int, int], Any]
    wt_curves_point_at: Callable[[Any, int, int, int], Any]
    wt_curves_name: Callable[[Any, Any, Any, Any], bytes]
    wt_context_set_device: Callable[[Any, Any], int]
    wt_context_device: Callable[[Any], bytes]
    wt_context_device_info: Callable[[Any, Any], int]
    wt_context_machine: Callable[[Any, Any], int]
    wt_experiment_at: Callable[[int], Any]
    wt_experiment_find: Callable[[Any], Any]
    wt_experiment_name: Callable[[Any], bytes]
    wt_experiment_summary: Callable[[Any], bytes]
    wt_experiment_result_version: Callable[[Any], int]
    wt_experiment_group: Callable[[Any], bytes]
    wt_experiment_reps: Callable[[Any], int]
    wt_experiment_field_at: Callable[[Any, int], Any]
    wt_experiment_metric_at: Callable[[Any, int], bytes]
    wt_products_load: Callable[[Any, Any, Any], int]
    wt_products_free: Callable[[Any], None]
    wt_products_heads: Callable[[Any], int]
    wt_products_dim: Callable[[Any], int]
    wt_products_theta: Callable[[Any], Any]
    wt_products_inspect: Callable[[Any, Any, int, Any], int]
    wt_products_profile: Callable[[Any, Any, int, int, Any], int]
    wt_inspect_options_init: Callable[[Any, int], None]
    wt_inspection_open: Callable[[Any, Any, Any, Any], int]
    wt_inspection_free: Callable[[Any], None]
    wt_inspection_count: Callable[[Any], int]
    wt_inspection_at: Callable[[Any, Any, int, Any], int]
    wt_inspection_layers: Callable[[Any], int]
    wt_inspection_folded: Callable[[Any], bool]
    wt_inspection_scheme: Callable[[Any], bytes]
    wt_inspection_stem: Callable[[Any, int], bytes]
    wt_inspection_rope: Callable[[Any], bytes]
    wt_inspection_left_out: Callable[[Any], bytes]
    wt_inspection_products: Callable[[Any], Any]
    wt_network_spec_init: Callable[[Any, int], None]
    wt_network_new: Callable[[Any, Any, Any], int]
    wt_network_free: Callable[[Any], None]
    wt_network_get_spec: Callable[[Any], Any]
    wt_network_size: Callable[[Any], int]
    wt_network_tensor_at: Callable[[Any, int], Any]
    wt_network_load: Callable[[Any, Any, Any, Any], int]
    wt_network_in_file: Callable[[Any, Any], bool]
    wt_network_draw: Callable[[Any, int, Any], None]
    wt_network_gradient: Callable[[Any, Any, Any, Any, int, int, Any, Any], int]
    wt_network_evaluate: Callable[[Any, Any, Any, Any, int, Any], int]
    wt_network_predict: Callable[[Any, Any, Any, Any, Any], int]
    wt_network_attention: Callable[[Any, Any, Any, Any, Any], int]
    wt_oracle_open: Callable[[Any, Any, int, float, Any], int]
    wt_oracle_free: Callable[[Any], None]
    wt_oracle_outputs: Callable[[Any], int]
    wt_oracle_ask: Callable[[Any, int, Any, Any], int]
    wt_layer_serve: Callable[[Any, Any, int, Any, Any], int]
    wt_fail: Callable[..., int]
    wt_remark: Callable[..., None]
    wt_context_check_cancelled: Callable[[Any], int]
    wt_context_stop_name: Callable[[Any], bytes]
    wt_context_lost: Callable[[Any, float, Any], int]
    wt_clock: Callable[[], float]
    wt_machine_processor: Callable[[Any], bytes]
    wt_machine_processors: Callable[[], int]
    wt_machine_memory: Callable[[], int]
    wt_meter_start: Callable[[Any, Any, float], wt_meter]
    wt_meter_set: Callable[[Any, float], None]
    wt_meter_tell: Callable[..., None]
    wt_meter_enter: Callable[[Any, Any], None]
    wt_context_set_faults: Callable[[Any, int, int], None]
    wt_context_write_fails: Callable[[Any], bool]
    wt_recover_options_init: Callable[[Any, int], None]
    wt_recover_fields: Callable[[Any], Any]
    wt_recover_method_find: Callable[[Any], Any]
    wt_recover_verdict_name: Callable[[int], bytes]
    wt_recover_least_examples: Callable[[int, int, int, int, int, int], float]
    wt_layer_recover: Callable[[Any, Any, Any, Any, Any, Any], int]
    wt_compare_options_init: Callable[[Any, int], None]
    wt_layer_compare: Callable[[Any, Any, Any, Any, Any], int]
    wt_comparison_free: Callable[[Any], None]
    wt_query_options_init: Callable[[Any, int], None]
    wt_query_fields: Callable[[Any], Any]
    wt_layer_query: Callable[[Any, Any, Any, int, int, Any, Any, Any], int]
    wt_stream_for: Callable[[int, Any, int], wt_stream]
    wt_seed_for: Callable[[int, Any, int], int]
    wt_random_words: Callable[[wt_stream, int, int, Any], None]
    wt_random_uniform: Callable[[wt_stream, int, int, Any], None]
    wt_random_normal: Callable[[wt_stream, int, int, Any], None]
    wt_random_sphere: Callable[[wt_stream, int, int, int, Any], None]
    wt_random_sign: Callable[[wt_stream, int, int, Any], None]
    wt_random_bernoulli: Callable[[wt_stream, int, int, float, Any], None]
    wt_random_permutation: Callable[[wt_stream, int, Any], None]
    wt_random_subset: Callable[[Any, wt_stream, int, int, Any], int]
    wt_figure_write: Callable[[Any, Any, Any], int]
    wt_figure_check_path: Callable[[Any, Any], int]
    wt_figure_text: Callable[[Any, Any, int, Any], int]
    wt_report_options_init: Callable[[Any, int], None]
    wt_report_write: Callable[[Any, Any, Any, Any, Any, Any], int]
    wt_report_watch: Callable[[Any, Any, Any, Any, Any, Any], int]
    wt_sweep_spec_load: Callable[[Any, Any, Any], int]
    wt_sweep_spec_parse: Callable[[Any, Any, Any], int]
    wt_sweep_spec_set: Callable[[Any, Any, Any], int]
    wt_sweep_spec_free: Callable[[Any], None]
    wt_plan_new: Callable[[Any, Any, wt_shard, Any], int]
    wt_plan_new_task: Callable[[Any, Any, Any, int, Any], int]
    wt_plan_new_failed: Callable[[Any, Any, Any], int]
    wt_plan_free: Callable[[Any], None]
    wt_plan_cells: Callable[[Any], int]
    wt_plan_compare: Callable[[Any, Any, Any, Any], int]
    wt_plan_estimate: Callable[[Any, Any, int, float, Any], int]
    wt_sweep_rate: Callable[[Any, Any], int]
    wt_sweep_options_init: Callable[[Any, int], None]
    wt_sweep_run: Callable[[Any, Any, Any, Any, Any], int]
    wt_reproduction_new: Callable[[Any, Any, Any, int, Any], int]
    wt_reproduction_free: Callable[[Any], None]
    wt_reproduction_at: Callable[[Any, int], Any]
    wt_reproduction_plan_at: Callable[[Any, int], Any]
    wt_reproduction_run: Callable[[Any, Any, Any, Any, Any, Any], int]
    wt_sculpt_text: Callable[[Any, Any, int], int]
    wt_sculpt_json: Callable[[Any, Any, int], int]
    wt_certificate_options_init: Callable[[Any, int], None]
    wt_certificate_compute: Callable[[Any, Any, Any, Any, Any], int]
    wt_certificate_contains: Callable[[Any, Any, Any, Any, Any, Any], int]
    wt_certificate_text: Callable[[Any, Any, int], int]
    wt_certificate_json: Callable[[Any, Any, int], int]
    wt_bits_search: Callable[[Any, Any, Any, int, Any], int]
    wt_bits_search_best: Callable[[Any, Any, Any, int, Any], int]
    wt_search_result_free: Callable[[Any], None]
    wt_bits_solve_parity: Callable[[Any, Any, Any], int]
    wt_parity_result_free: Callable[[Any], None]
    wt_search_method_name: Callable[[int], bytes]
    wt_search_options_init: Callable[[Any, int], None]
    wt_search_fields: Callable[[Any], Any]
    wt_search_trials_run: Callable[[Any, Any, Any], int]
    wt_search_trials_free: Callable[[Any], None]
    wt_search_trials_point_at: Callable[[Any, int, int, int], Any]
    wt_search_trials_row_at: Callable[[Any, int, int], Any]
    wt_search_trials_enough: Callable[[Any, int], int]
    wt_submit_options_init: Callable[[Any, int], None]
    wt_sweep_submit: Callable[[Any, Any, Any, Any, Any], int]
    wt_sweep_submit_preview: Callable[[Any, Any, Any, Any, Any, Any], int]
    wt_folder_is: Callable[[Any], bool]
    wt_folder_look: Callable[[Any, Any, Any], int]
    wt_folder_merge: Callable[[Any, Any, Any], int]
    wt_train_spec_init: Callable[[Any, int], None]
    wt_train_fields: Callable[[Any], Any]
    wt_trainer_new: Callable[[Any, Any, Any], int]
    wt_trainer_new_on: Callable[[Any, Any, Any, Any, Any], int]
    wt_trainer_free: Callable[[Any], None]
    wt_trainer_run: Callable[[Any, Any, int], int]
    wt_trainer_ended: Callable[[Any], bool]
    wt_trainer_restart: Callable[[Any], None]
    wt_trainer_run_kept: Callable[[Any, Any, Any, int, bool], int]
    wt_trainer_remark_balance: Callable[[Any, Any], None]
    wt_trainer_history: Callable[[Any, Any], Any]
    wt_trainer_result: Callable[[Any, Any, Any], int]
    wt_trainer_network: Callable[[Any], Any]
    wt_trainer_parameters: Callable[[Any], Any]
    wt_trainer_task: Callable[[Any], Any]
    wt_train_run: Callable[[Any, Any, int, Any], int]
    wt_trainer_save: Callable[[Any, Any, Any], int]
    wt_trainer_load: Callable[[Any, Any, Any], int]
    wt_trainer_save_model: Callable[[Any, Any, Any], int]
    wt_trainer_measure: Callable[[Any, Any, int, Any], int]
    wt_train_measure_free: Callable[[Any], None]
    wt_threshold_spec_init: Callable[[Any, int], None]
    wt_threshold_open: Callable[[Any, Any, Any, Any], int]
    wt_threshold_free: Callable[[Any], None]
    wt_threshold_run: Callable[[Any, Any], int]
    wt_threshold_trials: Callable[[Any], int]
    wt_threshold_summarise: Callable[[Any, Any, Any], int]
    wt_threshold_summary_free: Callable[[Any], None]


FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "wt_status_name": (c_char_p, [c_uint]),
    "wt_status_exit_code": (c_int, [c_uint]),
    "wt_version": (c_char_p, []),
    "wt_context_new": (c_uint, [POINTER(c_void_p)]),
    "wt_context_free": (None, [c_void_p]),
    "wt_context_set_threads": (c_uint, [c_void_p, c_int]),
    "wt_context_threads": (c_int, [c_void_p]),
    "wt_context_set_memory": (None, [c_void_p, c_size_t]),
    "wt_context_memory": (c_size_t, [c_void_p]),
    "wt_context_memory_used": (c_size_t, [c_void_p]),
    "wt_context_memory_peak": (c_size_t, [c_void_p]),
    "wt_context_message": (c_char_p, [c_void_p]),
    "wt_context_cancel": (None, [c_void_p]),
    "wt_context_cancelled": (c_bool, [c_void_p]),
    "wt_context_resume": (None, [c_void_p]),
    "wt_context_set_time_limit": (c_uint, [c_void_p, c_double]),
    "wt_context_out_of_time": (c_bool, [c_void_p]),
    "wt_context_set_log": (None, [c_void_p, wt_log_fn, c_void_p]),
    "wt_context_set_progress": (None, [c_void_p, wt_progress_fn, c_void_p]),
    "wt_progress_format": (c_char_p, [POINTER(wt_progress), c_void_p, c_size_t]),
    "wt_blas_choice_name": (c_char_p, [c_uint]),
    "wt_blas_open": (c_uint, [c_void_p, POINTER(wt_blas)]),
    "wt_boolean_new": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_boolean_free": (None, [c_void_p]),
    "wt_boolean_bits": (c_size_t, [c_void_p]),
    "wt_boolean_symmetric": (c_bool, [c_void_p]),
    "wt_boolean_value": (c_uint8, [c_void_p, c_size_t]),
    "wt_boolean_mean": (c_double, [c_void_p, c_double]),
    "wt_boolean_balance": (c_double, [c_void_p]),
    "wt_bits_new": (c_uint, [c_void_p, c_size_t, c_size_t, POINTER(c_void_p)]),
    "wt_bits_new_from": (c_uint, [c_void_p, c_size_t, c_size_t, c_void_p, c_void_p, POINTER(c_void_p)]),
    "wt_bits_load": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_bits_load_inputs": (c_uint, [c_void_p, c_char_p, c_void_p, POINTER(c_void_p)]),
    "wt_bits_split": (c_uint, [c_void_p, c_void_p, c_double, c_uint64, POINTER(c_void_p), POINTER(c_void_p)]),
    "wt_bits_free": (None, [c_void_p]),
    "wt_bits_samples": (c_size_t, [c_void_p]),
    "wt_bits_length": (c_size_t, [c_void_p]),
    "wt_bits_sample": (c_void_p, [c_void_p, c_size_t]),
    "wt_bits_labels": (c_void_p, [c_void_p]),
    "wt_sparse_spec_init": (None, [POINTER(wt_sparse_spec), c_size_t]),
    "wt_sparse_task_new": (c_uint, [c_void_p, POINTER(wt_sparse_spec), POINTER(c_void_p)]),
    "wt_sparse_task_free": (None, [c_void_p]),
    "wt_sparse_task_function": (c_void_p, [c_void_p]),
    "wt_sparse_task_relevant": (c_void_p, [c_void_p]),
    "wt_sparse_task_probability": (c_double, [c_void_p]),
    "wt_sparse_task_draw": (c_uint, [c_void_p, c_void_p, c_char_p, c_uint64, c_bool, c_void_p]),
    "wt_sparse_task_label": (c_uint8, [c_void_p, c_void_p]),
    "wt_allocate": (c_uint, [c_void_p, c_void_p, c_size_t, c_size_t, c_char_p]),
    "wt_allocate_zero": (c_uint, [c_void_p, c_void_p, c_size_t, c_size_t, c_char_p]),
    "wt_release": (None, [c_void_p]),
    "wt_grow": (c_uint, [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_char_p]),
    "wt_product": (c_size_t, [c_size_t, c_size_t]),
    "wt_copy_text": (c_uint, [c_void_p, POINTER(c_void_p), c_char_p, c_char_p]),
    "wt_arena_start": (wt_arena, [c_void_p, c_char_p]),
    "wt_arena_take": (c_void_p, [POINTER(wt_arena), c_size_t, c_bool, c_void_p, c_size_t]),
    "wt_arena_free": (None, [POINTER(wt_arena)]),
    "wt_field_at": (POINTER(wt_field), [POINTER(wt_field), c_size_t, c_size_t]),
    "wt_field_find": (POINTER(wt_field), [POINTER(wt_field), c_size_t, c_char_p]),
    "wt_field_option": (c_char_p, [POINTER(wt_field)]),
    "wt_field_parse": (c_uint, [c_void_p, POINTER(wt_field), c_char_p, POINTER(wt_value)]),
    "wt_field_check": (c_uint, [c_void_p, POINTER(wt_field), wt_value]),
    "wt_field_print": (c_char_p, [POINTER(wt_field), wt_value, c_void_p]),
    "wt_field_list": (c_uint, [POINTER(wt_arena), POINTER(wt_field), c_char_p, POINTER(wt_list)]),
    "wt_field_get": (wt_value, [POINTER(wt_field), c_void_p]),
    "wt_field_is_none": (c_bool, [POINTER(wt_field), c_void_p]),
    "wt_field_set": (None, [POINTER(wt_field), wt_value, c_void_p]),
    "wt_law_parse": (c_uint, [c_void_p, c_char_p, c_void_p]),
    "wt_law_name": (c_char_p, [c_uint]),
    "wt_law_set_scale": (c_double, [c_uint, c_size_t]),
    "wt_sets_new": (c_uint, [c_void_p, c_size_t, c_size_t, c_size_t, c_size_t, c_bool, POINTER(c_void_p)]),
    "wt_sets_borrow": (c_uint, [c_void_p, c_size_t, c_size_t, c_size_t, c_size_t, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_void_p)]),
    "wt_sets_free": (None, [c_void_p]),
    "wt_sets_samples": (c_size_t, [c_void_p]),
    "wt_sets_keys": (c_size_t, [c_void_p]),
    "wt_sets_dim": (c_size_t, [c_void_p]),
    "wt_sets_outputs": (c_size_t, [c_void_p]),
    "wt_sets_query": (c_void_p, [c_void_p]),
    "wt_sets_key": (c_void_p, [c_void_p]),
    "wt_sets_mask": (c_void_p, [c_void_p]),
    "wt_sets_y": (c_void_p, [c_void_p]),
    "wt_sets_check": (c_uint, [c_void_p, c_void_p, c_char_p]),
    "wt_sets_load": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_sets_save": (c_uint, [c_void_p, c_void_p, c_char_p, c_void_p]),
    "wt_problem_spec_init": (None, [POINTER(wt_problem_spec), c_size_t]),
    "wt_problem_fields": (POINTER(wt_field), [c_void_p]),
    "wt_problem_new": (c_uint, [c_void_p, POINTER(wt_problem_spec), POINTER(c_void_p)]),
    "wt_problem_free": (None, [c_void_p]),
    "wt_problem_beta": (c_void_p, [c_void_p]),
    "wt_problem_get_spec": (POINTER(wt_problem_spec), [c_void_p]),
    "wt_problem_draw": (c_uint, [c_void_p, c_void_p, c_uint64, c_void_p]),
    "wt_problem_label": (c_uint, [c_void_p, c_void_p, c_uint64, c_void_p]),
    "wt_target_at": (POINTER(wt_target_info), [c_size_t]),
    "wt_integer_parse": (c_bool, [c_char_p, c_void_p]),
    "wt_unsigned_parse": (c_bool, [c_char_p, c_void_p]),
    "wt_real_parse": (c_bool, [c_char_p, c_void_p]),
    "wt_bytes_parse": (c_bool, [c_char_p, c_void_p]),
    "wt_bytes_format": (c_char_p, [c_size_t, c_void_p]),
    "wt_seconds_parse": (c_bool, [c_char_p, c_void_p]),
    "wt_seconds_format": (c_char_p, [c_double, c_void_p]),
    "wt_utf8_valid": (c_bool, [c_char_p]),
    "wt_utf8_trim": (None, [c_void_p]),
    "wt_show_character": (c_size_t, [c_char_p, c_size_t, c_void_p]),
    "wt_show": (c_size_t, [c_char_p, c_void_p, c_size_t]),
    "wt_edit_distance": (c_size_t, [c_char_p, c_char_p]),
    "wt_quote": (c_char_p, [c_char_p, c_void_p, c_size_t]),
    "wt_shell_word": (c_size_t, [c_char_p, c_void_p, c_size_t]),
    "wt_grid_parse": (c_uint, [c_void_p, c_char_p, POINTER(wt_grid)]),
    "wt_grid_parse_integers": (c_uint, [c_void_p, c_char_p, POINTER(wt_grid)]),
    "wt_grid_free": (None, [POINTER(wt_grid)]),
    "wt_range_parse": (c_uint, [c_void_p, c_char_p, c_void_p, c_void_p]),
    "wt_model_kind_parse": (c_uint, [c_void_p, c_char_p, c_void_p]),
    "wt_model_kind_name": (c_char_p, [c_uint]),
    "wt_model_kind_infinite": (c_bool, [c_uint]),
    "wt_activation_parse": (c_uint, [c_void_p, c_char_p, c_void_p]),
    "wt_activation_name": (c_char_p, [c_uint]),
    "wt_model_spec_init": (None, [POINTER(wt_model_spec), c_size_t]),
    "wt_model_fields": (POINTER(wt_field), [c_void_p]),
    "wt_model_spec_check": (c_uint, [c_void_p, POINTER(wt_model_spec)]),
    "wt_fitted_free": (None, [c_void_p]),
    "wt_fitted_predict": (c_uint, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "wt_fitted_outputs": (c_size_t, [c_void_p]),
    "wt_fitted_get_spec": (POINTER(wt_model_spec), [c_void_p]),
    "wt_fitted_score": (c_uint, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "wt_fitted_save": (c_uint, [c_void_p, c_void_p, c_char_p]),
    "wt_fitted_load": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_lambda_name": (c_char_p, [c_uint]),
    "wt_ridge_options_init": (None, [POINTER(wt_ridge_options), c_size_t]),
    "wt_ridge_spec_init": (None, [POINTER(wt_ridge_spec), c_size_t]),
    "wt_ridge_fields": (POINTER(wt_field), [c_void_p]),
    "wt_ridge_spec_read": (c_uint, [c_void_p, POINTER(wt_ridge_spec), POINTER(wt_ridge_options), POINTER(wt_grid)]),
    "wt_ridge_fit": (c_uint, [c_void_p, POINTER(wt_ridge_options), POINTER(wt_model_spec), c_void_p, c_void_p, POINTER(c_void_p), POINTER(wt_fit_report)]),
    "wt_ridge_fit_problem": (c_uint, [c_void_p, POINTER(wt_ridge_options), POINTER(wt_model_spec), c_void_p, c_size_t, c_void_p, POINTER(c_void_p), POINTER(wt_fit_report)]),
    "wt_ridge_cost": (c_uint, [c_void_p, POINTER(wt_ridge_options), POINTER(wt_model_spec), c_size_t, c_size_t, c_bool, POINTER(wt_fit_cost)]),
    "wt_ridge_curve": (c_uint, [c_void_p, POINTER(wt_ridge_options), POINTER(wt_model_spec), c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_size_t, c_void_p, c_size_t, POINTER(wt_curve_point)]),
    "wt_loss_parse": (c_uint, [c_void_p, c_char_p, c_void_p]),
    "wt_loss_name": (c_char_p, [c_uint]),
    "wt_ball_options_init": (None, [POINTER(wt_ball_options), c_size_t]),
    "wt_ball_fit": (c_uint, [c_void_p, POINTER(wt_ball_options), POINTER(wt_model_spec), c_void_p, c_void_p, POINTER(c_void_p), POINTER(wt_ball_report)]),
    "wt_bound_spec_init": (None, [POINTER(wt_bound_spec), c_size_t]),
    "wt_bound_compute": (c_uint, [c_void_p, POINTER(wt_bound_spec), POINTER(wt_bound)]),
    "wt_complexity_measure": (c_uint, [c_void_p, POINTER(wt_model_spec), c_void_p, c_void_p, c_size_t, c_void_p, POINTER(wt_complexity)]),
    "wt_model_norms_new": (c_uint, [c_void_p, c_size_t, c_size_t, POINTER(c_void_p)]),
    "wt_model_norm_name": (c_char_p, [c_uint]),
    "wt_model_norms_parse": (c_uint, [c_void_p, c_char_p, c_bool, c_size_t, c_size_t, POINTER(c_void_p)]),
    "wt_model_norms_load_head": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_model_norms_load_transformer": (c_uint, [c_void_p, c_char_p, c_size_t, POINTER(c_void_p)]),
    "wt_model_norms_free": (None, [c_void_p]),
    "wt_model_norms_layers": (c_size_t, [c_void_p]),
    "wt_model_norms_heads": (c_size_t, [c_void_p]),
    "wt_model_norms_dim": (c_size_t, [c_void_p]),
    "wt_model_norms_length": (c_size_t, [c_void_p]),
    "wt_model_norms_get": (c_double, [c_void_p, c_uint, c_size_t, c_size_t]),
    "wt_model_norms_set": (c_uint, [c_void_p, c_void_p, c_uint, c_size_t, c_size_t, c_double]),
    "wt_model_norms_outside": (POINTER(c_char_p), [c_void_p]),
    "wt_capacity_spec_init": (None, [POINTER(wt_capacity_spec), c_size_t]),
    "wt_capacity_compute": (c_uint, [c_void_p, POINTER(wt_capacity_spec), c_void_p, POINTER(wt_capacity)]),
    "wt_type_name": (c_char_p, [c_uint]),
    "wt_type_bytes": (c_size_t, [c_uint]),
    "wt_file_open": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_file_free": (None, [c_void_p]),
    "wt_file_format": (c_char_p, [c_void_p]),
    "wt_file_path": (c_char_p, [c_void_p]),
    "wt_file_bytes": (c_uint64, [c_void_p]),
    "wt_file_count": (c_size_t, [c_void_p]),
    "wt_file_at": (POINTER(wt_array), [c_void_p, c_size_t]),
    "wt_file_find": (POINTER(wt_array), [c_void_p, c_char_p]),
    "wt_file_expect": (c_uint, [c_void_p, c_void_p, c_char_p, POINTER(POINTER(wt_array))]),
    "wt_file_metadata": (c_char_p, [c_void_p, c_char_p]),
    "wt_file_metadata_count": (c_size_t, [c_void_p]),
    "wt_file_metadata_at": (POINTER(wt_metadata), [c_void_p, c_size_t]),
    "wt_file_read": (c_uint, [c_void_p, c_void_p, POINTER(wt_array), c_void_p]),
    "wt_file_walk": (c_uint, [c_void_p, c_void_p, POINTER(wt_array), wt_file_values_fn, c_void_p]),
    "wt_file_summarise": (c_uint, [c_void_p, c_void_p, POINTER(wt_array), POINTER(wt_summary)]),
    "wt_values_check_finite": (c_uint, [c_void_p, c_char_p, c_void_p, c_size_t, c_void_p]),
    "wt_npy_write": (c_uint, [c_void_p, c_char_p, POINTER(wt_tensor)]),
    "wt_npz_write": (c_uint, [c_void_p, c_char_p, POINTER(wt_tensor), c_size_t]),
    "wt_safetensors_write": (c_uint, [c_void_p, c_char_p, POINTER(wt_tensor), c_size_t, POINTER(wt_metadata), c_size_t]),
    "wt_layer_form_init": (None, [POINTER(wt_layer_form), c_size_t]),
    "wt_layer_form_print": (c_char_p, [POINTER(wt_layer_form), c_void_p]),
    "wt_layer_new": (c_uint, [c_void_p, c_size_t, c_size_t, c_size_t, POINTER(c_void_p)]),
    "wt_layer_new_form": (c_uint, [c_void_p, c_size_t, c_size_t, c_size_t, POINTER(wt_layer_form), POINTER(c_void_p)]),
    "wt_layer_free": (None, [c_void_p]),
    "wt_layer_copy": (c_uint, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "wt_layer_keep": (c_uint, [c_void_p, c_void_p, c_size_t, c_void_p, POINTER(c_void_p)]),
    "wt_layer_heads": (c_size_t, [c_void_p]),
    "wt_layer_dim": (c_size_t, [c_void_p]),
    "wt_layer_outputs": (c_size_t, [c_void_p]),
    "wt_layer_get_form": (c_uint, [c_void_p, c_void_p, POINTER(wt_layer_form)]),
    "wt_layer_theta": (c_void_p, [c_void_p]),
    "wt_layer_w": (c_void_p, [c_void_p]),
    "wt_layer_c": (c_void_p, [c_void_p]),
    "wt_layer_load": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_layer_save": (c_uint, [c_void_p, c_void_p, c_char_p]),
    "wt_layer_save_noted": (c_uint, [c_void_p, c_void_p, c_char_p, POINTER(wt_metadata), c_size_t]),
    "wt_layer_forward": (c_uint, [c_void_p, c_void_p, c_size_t, c_size_t, c_void_p, c_void_p]),
    "wt_layer_apply": (c_uint, [c_void_p, c_void_p, c_void_p]),
    "wt_layer_evaluate": (c_uint, [c_void_p, c_void_p, c_void_p, POINTER(c_void_p), c_void_p]),
    "wt_teacher_options_init": (None, [POINTER(wt_teacher_options), c_size_t]),
    "wt_teacher_fields": (POINTER(wt_field), [c_void_p]),
    "wt_layer_teacher": (c_uint, [c_void_p, POINTER(wt_teacher_options), POINTER(c_void_p)]),
    "wt_layer_zero_sum": (None, [c_void_p]),
    "wt_layer_parity": (c_uint, [c_void_p, c_size_t, c_size_t, POINTER(c_void_p)]),
    "wt_sequences_new": (c_uint, [c_void_p, c_size_t, c_size_t, c_size_t, c_size_t, POINTER(c_void_p)]),
    "wt_sequences_free": (None, [c_void_p]),
    "wt_sequences_samples": (c_size_t, [c_void_p]),
    "wt_sequences_length": (c_size_t, [c_void_p]),
    "wt_sequences_dim": (c_size_t, [c_void_p]),
    "wt_sequences_outputs": (c_size_t, [c_void_p]),
    "wt_sequences_x": (c_void_p, [c_void_p]),
    "wt_sequences_y": (c_void_p, [c_void_p]),
    "wt_sequences_lengths": (c_void_p, [c_void_p]),
    "wt_sequences_set_lengths": (c_uint, [c_void_p, c_void_p, c_void_p]),
    "wt_sequences_set_missing": (c_uint, [c_void_p, c_void_p]),
    "wt_sequences_check": (c_uint, [c_void_p, c_void_p, c_char_p]),
    "wt_sequences_load": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_sequences_spec_init": (None, [POINTER(wt_sequences_spec), c_size_t]),
    "wt_sequences_load_as": (c_uint, [c_void_p, c_char_p, POINTER(wt_sequences_spec), POINTER(c_void_p)]),
    "wt_sequences_borrow": (c_uint, [c_void_p, POINTER(wt_sequences_arrays), POINTER(wt_sequences_spec), POINTER(c_void_p)]),
    "wt_sequences_save": (c_uint, [c_void_p, c_void_p, c_char_p]),
    "wt_layer_draw": (c_uint, [c_void_p, c_void_p, c_uint, c_double, c_double, c_uint64, c_uint64, c_void_p]),
    "wt_token_rows_load": (c_uint, [c_void_p, c_char_p, c_size_t, POINTER(wt_token_rows)]),
    "wt_token_rows_free": (None, [POINTER(wt_token_rows)]),
    "wt_token_norm_load": (c_uint, [c_void_p, c_char_p, c_size_t, POINTER(c_void_p), POINTER(c_void_p)]),
    "wt_layer_draw_options_init": (None, [POINTER(wt_layer_draw_options), c_size_t]),
    "wt_layer_draw_as": (c_uint, [c_void_p, c_void_p, POINTER(wt_layer_draw_options), POINTER(c_void_p)]),
    "wt_layer_label": (c_uint, [c_void_p, c_void_p, c_double, c_uint64, c_uint64, c_void_p]),
    "wt_checkpoint_options_init": (None, [POINTER(wt_checkpoint_options), c_size_t]),
    "wt_checkpoint_open": (c_uint, [c_void_p, c_char_p, POINTER(wt_checkpoint_options), POINTER(c_void_p)]),
    "wt_checkpoint_free": (None, [c_void_p]),
    "wt_checkpoint_scheme": (c_char_p, [c_void_p]),
    "wt_checkpoint_layers": (c_size_t, [c_void_p]),
    "wt_checkpoint_heads": (c_size_t, [c_void_p]),
    "wt_checkpoint_stem": (c_char_p, [c_void_p, c_size_t]),
    "wt_checkpoint_rope": (c_char_p, [c_void_p]),
    "wt_checkpoint_left_out": (c_char_p, [c_void_p]),
    "wt_checkpoint_layer": (c_uint, [c_void_p, c_void_p, c_size_t, c_bool, POINTER(c_void_p)]),
    "wt_layer_open": (c_uint, [c_void_p, c_char_p, POINTER(wt_checkpoint_options), c_size_t, c_bool, POINTER(c_void_p)]),
    "wt_layer_export_options_init": (None, [POINTER(wt_layer_export_options), c_size_t]),
    "wt_layer_export": (c_uint, [c_void_p, c_void_p, POINTER(wt_layer_export_options), c_char_p, c_void_p]),
    "wt_mean_interval": (wt_interval, [c_void_p, c_size_t]),
    "wt_rate_interval": (wt_interval, [c_size_t, c_size_t]),
    "wt_growth_name": (c_char_p, [c_uint]),
    "wt_affine_fit_compute": (c_uint, [c_void_p, c_uint, c_void_p, c_void_p, c_size_t, c_uint64, POINTER(wt_affine_fit)]),
    "wt_growth_exponent": (c_double, [c_void_p, c_void_p, c_size_t]),
    "wt_exponent_format": (c_char_p, [c_double, c_void_p]),
    "wt_trials_critical": (c_uint, [c_void_p, POINTER(wt_trials), c_size_t, c_double, POINTER(wt_interval)]),
    "wt_output_open": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_output_check": (c_uint, [c_void_p, c_char_p]),
    "wt_output_spool": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_output_write": (c_uint, [c_void_p, c_void_p, c_size_t]),
    "wt_output_print": (c_uint, [c_void_p, c_char_p]),
    "wt_output_status": (c_uint, [c_void_p]),
    "wt_output_walk": (c_uint, [c_void_p, wt_output_block_fn, c_void_p]),
    "wt_output_commit": (c_uint, [c_void_p]),
    "wt_output_free": (None, [c_void_p]),
    "wt_lock_open": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_lock_free": (None, [c_void_p]),
    "wt_store_open": (c_uint, [c_void_p, c_char_p, c_uint, POINTER(c_void_p)]),
    "wt_store_free": (None, [c_void_p]),
    "wt_store_path": (c_char_p, [c_void_p]),
    "wt_store_walk": (c_uint, [c_void_p, c_void_p, c_char_p, wt_record_fn, c_void_p]),
    "wt_store_hold": (c_uint, [c_void_p, c_void_p]),
    "wt_store_let_go": (None, [c_void_p]),
    "wt_store_walk_notes": (c_uint, [c_void_p, c_void_p, wt_note_fn, c_void_p]),
    "wt_store_note": (c_uint, [c_void_p, c_void_p, c_char_p, c_char_p]),
    "wt_record_hash": (c_uint, [c_void_p, POINTER(wt_record), c_void_p]),
    "wt_store_put": (c_uint, [c_void_p, c_void_p, POINTER(wt_record)]),
    "wt_store_commit": (c_uint, [c_void_p, c_void_p]),
    "wt_store_rollback": (None, [c_void_p]),
    "wt_store_counts": (c_uint, [c_void_p, c_void_p, POINTER(wt_store_count)]),
    "wt_export_options_init": (None, [POINTER(wt_export_options), c_size_t]),
    "wt_store_export": (c_uint, [c_void_p, c_void_p, POINTER(wt_export_options), POINTER(c_void_p)]),
    "wt_store_merge": (c_uint, [c_void_p, c_void_p, c_void_p, POINTER(wt_merge_report)]),
    "wt_store_walk_disputes": (c_uint, [c_void_p, c_void_p, wt_dispute_fn, c_void_p]),
    "wt_results_load": (c_uint, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "wt_results_free": (None, [c_void_p]),
    "wt_results_done": (c_size_t, [c_void_p]),
    "wt_results_failed": (c_size_t, [c_void_p]),
    "wt_table_query_init": (None, [POINTER(wt_table_query), c_size_t]),
    "wt_results_table": (c_uint, [c_void_p, c_void_p, POINTER(wt_table_query), POINTER(c_void_p)]),
    "wt_table_free": (None, [c_void_p]),
    "wt_table_row_at": (POINTER(wt_table_row), [c_void_p, c_size_t]),
    "wt_table_setting": (c_char_p, [c_void_p, c_size_t, c_char_p, c_void_p, c_size_t]),
    "wt_verdict_name": (c_char_p, [c_uint]),
    "wt_rules_at": (POINTER(wt_rules), [c_size_t]),
    "wt_rules_now": (POINTER(wt_rules), []),
    "wt_seed_explored": (c_bool, [c_int64]),
    "wt_paper_at": (POINTER(wt_paper), [c_size_t]),
    "wt_evidence_measured": (c_bool, [POINTER(wt_evidence)]),
    "wt_findings_measure": (c_uint, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "wt_findings_free": (None, [c_void_p]),
    "wt_findings_claim_at": (POINTER(wt_finding), [c_void_p, c_size_t]),
    "wt_findings_part_at": (POINTER(wt_finding_part), [c_void_p, c_size_t]),
    "wt_findings_explored": (c_size_t, [c_void_p]),
    "wt_construction_spec_init": (None, [POINTER(wt_construction_spec), c_size_t]),
    "wt_construction_fields": (POINTER(wt_field), [c_void_p]),
    "wt_construction_spec_check": (c_uint, [c_void_p, POINTER(wt_construction_spec)]),
    "wt_construction_new": (c_uint, [c_void_p, POINTER(wt_construction_spec), POINTER(c_void_p)]),
    "wt_construction_free": (None, [c_void_p]),
    "wt_construction_summarise": (c_uint, [c_void_p, c_void_p, POINTER(wt_construction_summary)]),
    "wt_construction_run": (c_uint, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "wt_construction_check": (c_uint, [c_void_p, c_void_p, c_size_t, c_uint64, POINTER(wt_construction_report)]),
    "wt_construction_set_strength": (None, [c_void_p, c_double]),
    "wt_construction_find_least": (c_uint, [c_void_p, c_void_p, POINTER(wt_construction_least)]),
    "wt_construction_save": (c_uint, [c_void_p, c_void_p, c_char_p]),
    "wt_construction_load": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_curve_options_init": (None, [POINTER(wt_curve_options), c_size_t]),
    "wt_curve_fields": (POINTER(wt_field), [c_void_p]),
    "wt_curves_run": (c_uint, [c_void_p, POINTER(wt_curve_options), POINTER(c_void_p)]),
    "wt_curves_free": (None, [c_void_p]),
    "wt_curves_count": (c_size_t, [c_void_p]),
    "wt_curves_reps": (c_size_t, [c_void_p]),
    "wt_curves_size_count": (c_size_t, [c_void_p]),
    "wt_curves_line_at": (POINTER(wt_curve_line), [c_void_p, c_size_t]),
    "wt_curves_summary_at": (POINTER(wt_curve_summary), [c_void_p, c_size_t, c_size_t]),
    "wt_curves_point_at": (POINTER(wt_curve_point), [c_void_p, c_size_t, c_size_t, c_size_t]),
    "wt_curves_name": (c_char_p, [c_void_p, POINTER(wt_curve_line), c_char, c_void_p]),
    "wt_context_set_device": (c_uint, [c_void_p, c_char_p]),
    "wt_context_device": (c_char_p, [c_void_p]),
    "wt_context_device_info": (c_uint, [c_void_p, POINTER(wt_device_info)]),
    "wt_context_machine": (c_uint, [c_void_p, c_void_p]),
    "wt_experiment_at": (c_void_p, [c_size_t]),
    "wt_experiment_find": (c_void_p, [c_char_p]),
    "wt_experiment_name": (c_char_p, [c_void_p]),
    "wt_experiment_summary": (c_char_p, [c_void_p]),
    "wt_experiment_result_version": (c_int64, [c_void_p]),
    "wt_experiment_group": (c_char_p, [c_void_p]),
    "wt_experiment_reps": (c_size_t, [c_void_p]),
    "wt_experiment_field_at": (POINTER(wt_field), [c_void_p, c_size_t]),
    "wt_experiment_metric_at": (c_char_p, [c_void_p, c_size_t]),
    "wt_products_load": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_products_free": (None, [c_void_p]),
    "wt_products_heads": (c_size_t, [c_void_p]),
    "wt_products_dim": (c_size_t, [c_void_p]),
    "wt_products_theta": (c_void_p, [c_void_p]),
    "wt_products_inspect": (c_uint, [c_void_p, c_void_p, c_size_t, POINTER(wt_head_summary)]),
    "wt_products_profile": (c_uint, [c_void_p, c_void_p, c_size_t, c_size_t, c_void_p]),
    "wt_inspect_options_init": (None, [POINTER(wt_inspect_options), c_size_t]),
    "wt_inspection_open": (c_uint, [c_void_p, c_char_p, POINTER(wt_inspect_options), POINTER(c_void_p)]),
    "wt_inspection_free": (None, [c_void_p]),
    "wt_inspection_count": (c_size_t, [c_void_p]),
    "wt_inspection_at": (c_uint, [c_void_p, c_void_p, c_size_t, POINTER(wt_head_summary)]),
    "wt_inspection_layers": (c_size_t, [c_void_p]),
    "wt_inspection_folded": (c_bool, [c_void_p]),
    "wt_inspection_scheme": (c_char_p, [c_void_p]),
    "wt_inspection_stem": (c_char_p, [c_void_p, c_size_t]),
    "wt_inspection_rope": (c_char_p, [c_void_p]),
    "wt_inspection_left_out": (c_char_p, [c_void_p]),
    "wt_inspection_products": (c_void_p, [c_void_p]),
    "wt_network_spec_init": (None, [POINTER(wt_network_spec), c_size_t]),
    "wt_network_new": (c_uint, [c_void_p, POINTER(wt_network_spec), POINTER(c_void_p)]),
    "wt_network_free": (None, [c_void_p]),
    "wt_network_get_spec": (POINTER(wt_network_spec), [c_void_p]),
    "wt_network_size": (c_size_t, [c_void_p]),
    "wt_network_tensor_at": (POINTER(wt_network_tensor), [c_void_p, c_size_t]),
    "wt_network_load": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(c_void_p)]),
    "wt_network_in_file": (c_bool, [c_void_p, c_char_p]),
    "wt_network_draw": (None, [c_void_p, c_uint64, c_void_p]),
    "wt_network_gradient": (c_uint, [c_void_p, c_void_p, c_void_p, c_void_p, c_uint64, c_uint64, c_void_p, POINTER(wt_network_result)]),
    "wt_network_evaluate": (c_uint, [c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, POINTER(wt_network_result)]),
    "wt_network_predict": (c_uint, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "wt_network_attention": (c_uint, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "wt_oracle_open": (c_uint, [c_void_p, c_char_p, c_size_t, c_double, POINTER(c_void_p)]),
    "wt_oracle_free": (None, [c_void_p]),
    "wt_oracle_outputs": (c_size_t, [c_void_p]),
    "wt_oracle_ask": (c_uint, [c_void_p, c_size_t, c_void_p, c_void_p]),
    "wt_layer_serve": (c_uint, [c_void_p, c_void_p, c_int, wt_oracle_answer_fn, c_void_p]),
    "wt_fail": (c_uint, [c_void_p, c_uint, c_char_p]),
    "wt_remark": (None, [c_void_p, c_char_p]),
    "wt_context_check_cancelled": (c_uint, [c_void_p]),
    "wt_context_stop_name": (c_char_p, [c_void_p]),
    "wt_context_lost": (c_uint, [c_void_p, c_double, c_char_p]),
    "wt_clock": (c_double, []),
    "wt_machine_processor": (c_char_p, [c_void_p]),
    "wt_machine_processors": (c_size_t, []),
    "wt_machine_memory": (c_size_t, []),
    "wt_meter_start": (wt_meter, [c_void_p, c_char_p, c_double]),
    "wt_meter_set": (None, [POINTER(wt_meter), c_double]),
    "wt_meter_tell": (None, [POINTER(wt_meter), c_double, c_char_p]),
    "wt_meter_enter": (None, [POINTER(wt_meter), c_char_p]),
    "wt_context_set_faults": (None, [c_void_p, c_long, c_long]),
    "wt_context_write_fails": (c_bool, [c_void_p]),
    "wt_recover_options_init": (None, [POINTER(wt_recover_options), c_size_t]),
    "wt_recover_fields": (POINTER(wt_field), [c_void_p]),
    "wt_recover_method_find": (POINTER(wt_recover_method), [c_char_p]),
    "wt_recover_verdict_name": (c_char_p, [c_uint]),
    "wt_recover_least_examples": (c_double, [c_size_t, c_size_t, c_size_t, c_size_t, c_size_t, c_size_t]),
    "wt_layer_recover": (c_uint, [c_void_p, c_void_p, POINTER(wt_recover_options), POINTER(c_void_p), POINTER(wt_recover_report), POINTER(wt_sculpt_report)]),
    "wt_compare_options_init": (None, [POINTER(wt_compare_options), c_size_t]),
    "wt_layer_compare": (c_uint, [c_void_p, c_void_p, c_void_p, POINTER(wt_compare_options), POINTER(wt_comparison)]),
    "wt_comparison_free": (None, [POINTER(wt_comparison)]),
    "wt_query_options_init": (None, [POINTER(wt_query_options), c_size_t]),
    "wt_query_fields": (POINTER(wt_field), [c_void_p]),
    "wt_layer_query": (c_uint, [c_void_p, wt_query_ask_fn, c_void_p, c_size_t, c_size_t, POINTER(wt_query_options), POINTER(c_void_p), POINTER(wt_query_report)]),
    "wt_stream_for": (wt_stream, [c_uint64, c_char_p, c_uint64]),
    "wt_seed_for": (c_uint64, [c_uint64, c_char_p, c_uint64]),
    "wt_random_words": (None, [wt_stream, c_uint64, c_size_t, c_void_p]),
    "wt_random_uniform": (None, [wt_stream, c_uint64, c_size_t, c_void_p]),
    "wt_random_normal": (None, [wt_stream, c_uint64, c_size_t, c_void_p]),
    "wt_random_sphere": (None, [wt_stream, c_uint64, c_size_t, c_size_t, c_void_p]),
    "wt_random_sign": (None, [wt_stream, c_uint64, c_size_t, c_void_p]),
    "wt_random_bernoulli": (None, [wt_stream, c_uint64, c_size_t, c_double, c_void_p]),
    "wt_random_permutation": (None, [wt_stream, c_size_t, c_void_p]),
    "wt_random_subset": (c_uint, [c_void_p, wt_stream, c_size_t, c_size_t, c_void_p]),
    "wt_figure_write": (c_uint, [c_void_p, POINTER(wt_figure), c_char_p]),
    "wt_figure_check_path": (c_uint, [c_void_p, c_char_p]),
    "wt_figure_text": (c_uint, [c_void_p, POINTER(wt_figure), c_size_t, POINTER(c_void_p)]),
    "wt_report_options_init": (None, [POINTER(wt_report_options), c_size_t]),
    "wt_report_write": (c_uint, [c_void_p, c_char_p, c_char_p, POINTER(wt_report_options), POINTER(c_void_p), POINTER(wt_report_summary)]),
    "wt_report_watch": (c_uint, [c_void_p, c_char_p, c_char_p, POINTER(wt_report_options), POINTER(c_void_p), POINTER(wt_report_summary)]),
    "wt_sweep_spec_load": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_sweep_spec_parse": (c_uint, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "wt_sweep_spec_set": (c_uint, [c_void_p, c_void_p, c_char_p]),
    "wt_sweep_spec_free": (None, [c_void_p]),
    "wt_plan_new": (c_uint, [c_void_p, c_void_p, wt_shard, POINTER(c_void_p)]),
    "wt_plan_new_task": (c_uint, [c_void_p, c_void_p, c_char_p, c_size_t, POINTER(c_void_p)]),
    "wt_plan_new_failed": (c_uint, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "wt_plan_free": (None, [c_void_p]),
    "wt_plan_cells": (c_size_t, [c_void_p]),
    "wt_plan_compare": (c_uint, [c_void_p, c_void_p, c_void_p, POINTER(wt_plan_count)]),
    "wt_plan_estimate": (c_uint, [c_void_p, c_void_p, c_size_t, c_double, POINTER(wt_plan_cost)]),
    "wt_sweep_rate": (c_uint, [c_void_p, c_void_p]),
    "wt_sweep_options_init": (None, [POINTER(wt_sweep_options), c_size_t]),
    "wt_sweep_run": (c_uint, [c_void_p, c_void_p, c_void_p, POINTER(wt_sweep_options), POINTER(wt_sweep_report)]),
    "wt_reproduction_new": (c_uint, [c_void_p, c_char_p, c_char_p, c_uint64, POINTER(c_void_p)]),
    "wt_reproduction_free": (None, [c_void_p]),
    "wt_reproduction_at": (POINTER(wt_reproduction_sweep), [c_void_p, c_size_t]),
    "wt_reproduction_plan_at": (c_void_p, [c_void_p, c_size_t]),
    "wt_reproduction_run": (c_uint, [c_void_p, c_void_p, c_void_p, c_char_p, POINTER(wt_sweep_options), POINTER(wt_reproduction_report)]),
    "wt_sculpt_text": (c_size_t, [POINTER(wt_sculpt_report), c_void_p, c_size_t]),
    "wt_sculpt_json": (c_size_t, [POINTER(wt_sculpt_report), c_void_p, c_size_t]),
    "wt_certificate_options_init": (None, [POINTER(wt_certificate_options), c_size_t]),
    "wt_certificate_compute": (c_uint, [c_void_p, c_void_p, c_void_p, POINTER(wt_certificate_options), POINTER(wt_certificate_result)]),
    "wt_certificate_contains": (c_uint, [c_void_p, c_void_p, c_void_p, POINTER(wt_certificate_options), c_void_p, c_void_p]),
    "wt_certificate_text": (c_size_t, [POINTER(wt_certificate_result), c_void_p, c_size_t]),
    "wt_certificate_json": (c_size_t, [POINTER(wt_certificate_result), c_void_p, c_size_t]),
    "wt_bits_search": (c_uint, [c_void_p, c_void_p, c_void_p, c_size_t, POINTER(wt_search_result)]),
    "wt_bits_search_best": (c_uint, [c_void_p, c_void_p, c_void_p, c_size_t, POINTER(wt_search_result)]),
    "wt_search_result_free": (None, [POINTER(wt_search_result)]),
    "wt_bits_solve_parity": (c_uint, [c_void_p, c_void_p, POINTER(wt_parity_result)]),
    "wt_parity_result_free": (None, [POINTER(wt_parity_result)]),
    "wt_search_method_name": (c_char_p, [c_uint]),
    "wt_search_options_init": (None, [POINTER(wt_search_options), c_size_t]),
    "wt_search_fields": (POINTER(wt_field), [c_void_p]),
    "wt_search_trials_run": (c_uint, [c_void_p, POINTER(wt_search_options), POINTER(c_void_p)]),
    "wt_search_trials_free": (None, [c_void_p]),
    "wt_search_trials_point_at": (POINTER(wt_search_point), [c_void_p, c_size_t, c_size_t, c_size_t]),
    "wt_search_trials_row_at": (POINTER(wt_search_row), [c_void_p, c_size_t, c_size_t]),
    "wt_search_trials_enough": (c_size_t, [c_void_p, c_size_t]),
    "wt_submit_options_init": (None, [POINTER(wt_submit_options), c_size_t]),
    "wt_sweep_submit": (c_uint, [c_void_p, c_void_p, c_char_p, POINTER(wt_submit_options), POINTER(wt_submit_report)]),
    "wt_sweep_submit_preview": (c_uint, [c_void_p, c_void_p, c_char_p, POINTER(wt_submit_options), POINTER(wt_submit_report), POINTER(c_void_p)]),
    "wt_folder_is": (c_bool, [c_char_p]),
    "wt_folder_look": (c_uint, [c_void_p, c_char_p, POINTER(wt_folder_state)]),
    "wt_folder_merge": (c_uint, [c_void_p, c_char_p, POINTER(wt_merge_report)]),
    "wt_train_spec_init": (None, [POINTER(wt_train_spec), c_size_t]),
    "wt_train_fields": (POINTER(wt_field), [c_void_p]),
    "wt_trainer_new": (c_uint, [c_void_p, POINTER(wt_train_spec), POINTER(c_void_p)]),
    "wt_trainer_new_on": (c_uint, [c_void_p, POINTER(wt_train_spec), c_void_p, c_void_p, POINTER(c_void_p)]),
    "wt_trainer_free": (None, [c_void_p]),
    "wt_trainer_run": (c_uint, [c_void_p, c_void_p, c_size_t]),
    "wt_trainer_ended": (c_bool, [c_void_p]),
    "wt_trainer_restart": (None, [c_void_p]),
    "wt_trainer_run_kept": (c_uint, [c_void_p, c_void_p, c_char_p, c_size_t, c_bool]),
    "wt_trainer_remark_balance": (None, [c_void_p, c_void_p]),
    "wt_trainer_history": (POINTER(wt_train_point), [c_void_p, c_void_p]),
    "wt_trainer_result": (c_uint, [c_void_p, c_void_p, POINTER(wt_train_result)]),
    "wt_trainer_network": (c_void_p, [c_void_p]),
    "wt_trainer_parameters": (c_void_p, [c_void_p]),
    "wt_trainer_task": (c_void_p, [c_void_p]),
    "wt_train_run": (c_uint, [c_void_p, POINTER(wt_train_spec), c_uint64, POINTER(wt_train_result)]),
    "wt_trainer_save": (c_uint, [c_void_p, c_void_p, c_char_p]),
    "wt_trainer_load": (c_uint, [c_void_p, c_void_p, c_char_p]),
    "wt_trainer_save_model": (c_uint, [c_void_p, c_void_p, c_char_p]),
    "wt_trainer_measure": (c_uint, [c_void_p, c_void_p, c_size_t, POINTER(wt_train_measure)]),
    "wt_train_measure_free": (None, [POINTER(wt_train_measure)]),
    "wt_threshold_spec_init": (None, [POINTER(wt_threshold_spec), c_size_t]),
    "wt_threshold_open": (c_uint, [c_void_p, POINTER(wt_threshold_spec), c_char_p, POINTER(c_void_p)]),
    "wt_threshold_free": (None, [c_void_p]),
    "wt_threshold_run": (c_uint, [c_void_p, c_void_p]),
    "wt_threshold_trials": (c_size_t, [c_void_p]),
    "wt_threshold_summarise": (c_uint, [c_void_p, c_void_p, POINTER(wt_threshold_summary)]),
    "wt_threshold_summary_free": (None, [POINTER(wt_threshold_summary)]),
}


def bind(library: CDLL) -> Library:
    """Gives every function of the library its signature; AttributeError where one is missing."""
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library  # type: ignore[return-value]
