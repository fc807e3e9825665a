from strata import monoid as monoid
from strata.api.model import MLP as MLP
from strata.api.model import Transformer as Transformer
from strata.api.repository import load as load
from strata.api.repository import runs as runs
from strata.inputs import InputError as InputError
from strata.monoid import classes as classes
from strata.run import Run as Run
