from strata import monoid as monoid
from strata.api.analysis import Analysis as Analysis
from strata.api.analysis import analyse as analyse
from strata.api.foreign import from_weights as from_weights
from strata.api.hand import by_hand as by_hand
from strata.api.model import MLP as MLP
from strata.api.model import Transformer as Transformer
from strata.api.repository import activations as activations
from strata.api.repository import load as load
from strata.api.repository import runs as runs
from strata.api.training import train_model as train_model
from strata.inputs import InputError as InputError
from strata.monoid import classes as classes
from strata.run import Run as Run

__version__: str
