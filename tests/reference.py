"""The paper's equations (9)-(15), literal and slow.

Dense n × n Laplacian, inverses, a Sylvester equation, vectors of ones, and no use
of L1 = 0: any symmetric L is right here, the one that the paper prints included.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import inv, solve_sylvester


@dataclass(frozen=True)
class Given:
    """Data, graph and hyper-parameters."""

    X: np.ndarray
    Y: np.ndarray
    L: np.ndarray
    lam: float = 1.0
    beta: float = 2.0
    gamma: float = 1.0

    @property
    def one(self):
        return np.ones((len(self.X), 1))


@dataclass(frozen=True)
class Params:
    """W, B and the biases as column vectors."""

    W: np.ndarray
    B: np.ndarray
    z: np.ndarray
    t: np.ndarray


def similarity(X, s):
    """S: Pearson correlation of rows, kept for the s most correlated other rows."""
    with np.errstate(invalid="ignore", divide="ignore"):
        R = np.nan_to_num(np.corrcoef(X))
    np.fill_diagonal(R, -np.inf)
    S = np.zeros_like(R)
    for i, row in enumerate(R):
        nearest = np.argsort(-row)[:s]
        S[i, nearest] = row[nearest]
    return S


def laplacian(S):
    """As in the authors' code: S made symmetric first."""
    S = (S + S.T) / 2
    return np.diag(S.sum(axis=1)) - S


def printed_laplacian(S):
    """As printed in the paper: L = Q - S first, then (L + Lᵀ)/2."""
    L = np.diag(S.sum(axis=1)) - S
    return (L + L.T) / 2


def zeros(given):
    m, q = given.X.shape[1], given.Y.shape[1]
    return Params(
        np.zeros((m, q)), np.zeros((q, q)), np.zeros((q, 1)), np.zeros((q, 1))
    )


def update_W(given, now):
    """Eq. (12): the Sylvester equation AW + WE = Q."""
    X, Y, L, one = given.X, given.Y, given.L, given.one
    gamma, B, z, t = given.gamma, now.B, now.z, now.t
    inverse = inv(X.T @ L @ X) / gamma
    A = inverse @ (X.T @ X + given.lam * np.eye(X.shape[1]))
    E = B @ B.T
    Q = inverse @ (
        X.T @ Y
        - X.T @ one @ z.T
        - gamma * X.T @ L @ one @ t.T @ B.T
        - gamma * X.T @ L @ one @ z.T @ B @ B.T
    )
    return Params(solve_sylvester(A, E, Q), B, z, t)


def update_B(given, now):
    """Eq. (13)."""
    X, Y, L, one = given.X, given.Y, given.L, given.one
    beta, gamma, W, z, t = given.beta, given.gamma, now.W, now.z, now.t
    P = X @ W + one @ z.T
    A = beta * Y.T @ Y + given.lam * np.eye(Y.shape[1]) + gamma * P.T @ L @ P
    R = beta * Y.T @ Y - beta * Y.T @ one @ t.T - gamma * P.T @ L @ one @ t.T
    return Params(W, inv(A) @ R, z, t)


def update_z(given, now):
    """Eq. (14)."""
    X, Y, L, one = given.X, given.Y, given.L, given.one
    gamma, W, B, t = given.gamma, now.W, now.B, now.t
    A = (len(X) + given.lam) * np.eye(Y.shape[1])
    A = A + gamma * (one.T @ L @ one) * B @ B.T
    graph = gamma * B @ (B.T @ W.T @ X.T + t @ one.T) @ L @ one
    return Params(W, B, inv(A) @ (Y.T @ one - W.T @ X.T @ one - graph), t)


def update_t(given, now):
    """Eq. (15)."""
    X, Y, L, one = given.X, given.Y, given.L, given.one
    beta, gamma, W, B, z = given.beta, given.gamma, now.W, now.B, now.z
    graph = gamma * B.T @ (W.T @ X.T + z @ one.T) @ L @ one
    bottom = beta * len(X) + gamma * (one.T @ L @ one).item() + given.lam
    return Params(W, B, z, (beta * (Y.T @ one - B.T @ Y.T @ one) - graph) / bottom)


UPDATES = {"W": update_W, "B": update_B, "z": update_z, "t": update_t}


def sweep(given, now):
    """Algorithm 1, lines 4 to 7."""
    for update in UPDATES.values():
        now = update(given, now)
    return now


def scores(given, now):
    """K = (XW + 1zᵀ)B + 1tᵀ."""
    return (given.X @ now.W + given.one @ now.z.T) @ now.B + given.one @ now.t.T


def objective(given, now):
    """Eq. (6)."""
    X, Y, one = given.X, given.Y, given.one
    K = scores(given, now)
    blocks = (now.W, now.B, now.z, now.t)
    return (
        np.sum((Y - X @ now.W - one @ now.z.T) ** 2)
        + given.gamma * np.trace(K.T @ given.L @ K)
        + given.beta * np.sum((Y - Y @ now.B - one @ now.t.T) ** 2)
        + given.lam * sum(np.sum(block**2) for block in blocks)
    )
