from strata import monoid as monoid
from strata.inputs import InputError as InputError
from strata.models.model import MLP as MLP
from strata.models.model import Transformer as Transformer
from strata.models.repository import load as load
from strata.models.repository import runs as runs
from strata.monoid import classes as classes
from strata.run import Run as Run
