"""Pages of the label explorer for tests in a browser, and what a test asks of one."""

import base64

import numpy as np

from homi import HOMI
from homi.explorer import explain

LABELS = [
    "calm",
    "</script><script>document.title='taken'</script>",
    'quo"ted & <b>bold</b>',
    "sad",
    "angry",
    "a name that is much longer than any canvas or telephone would like it to be",
]

#: The bytes of a canvas, some frames later: of many arrows the last come late.
PIXELS = """selector => new Promise((done) => {
  const read = () => {
    const { width, height } = document.querySelector(selector);
    const copy = new OffscreenCanvas(width, height).getContext('2d');
    copy.drawImage(document.querySelector(selector), 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    let text = '';
    for (let k = 0; k < data.length; k += 8192) {
      text += String.fromCharCode(...data.subarray(k, k + 8192));
    }
    done({ bytes: btoa(text), size: [width, height] });
  };
  const wait = (frames) => {
    if (frames) requestAnimationFrame(() => wait(frames - 1));
    else read();
  };
  wait(15);
})"""

MANY = [f"label number {k}" for k in range(983)]


def some_rows(n_labels, n=400, seed=0):
    """Labels that hang together in threes, and features that tell them."""
    rng = np.random.default_rng(seed)
    topics = rng.normal(size=(n, (n_labels + 2) // 3))
    of_label = np.arange(n_labels) // 3
    signal = topics[:, of_label] + 0.7 * rng.normal(size=(n, n_labels))
    Y = (signal > rng.uniform(0.2, 1.4, size=n_labels)).astype(int)
    mixed = topics @ rng.normal(size=(topics.shape[1], 8))
    return mixed + rng.normal(size=mixed.shape), Y


class Written:
    """A page that is written, and the model behind it."""

    def __init__(self, model, path, names):
        self.path, self.names = path, names
        self.B = model.label_correlation_


class Opened:
    """A written page in a tab."""

    def __init__(self, tab, written):
        self.tab, self.page, self.path = tab, tab.page, written.path
        self.B, self.names = written.B, written.names

    def open(self, width=1280, scheme="light"):
        self.tab.open(self.path, width, scheme)
        return self

    def one(self, selector):
        return self.page.locator(selector)

    def text(self, selector):
        return self.one(selector).inner_text()

    def run(self, script, argument=None):
        return self.page.evaluate(script, argument)

    def look_for(self, text, *keys):
        self.one("#search").fill("")
        self.one("#search").press_sequentially(text)
        for key in keys:
            self.one("#search").press(key)

    def chosen(self):
        """The label at the head of the card, -1 if none is chosen."""
        number = int(self.run("() => document.documentElement.dataset.chosen ?? -1"))
        if number >= 0:
            assert self.one("#card h2").text_content() == self.names[number]
        return number

    def listed(self, title):
        """Labels and numbers of one list of the card."""
        heads = self.one("#card .movers h3").filter(has_text=title)
        items = heads.locator("..").locator("li")
        pairs = "items => items.map(e => [+e.dataset.label, +e.dataset.value])"
        assert heads.count() == 1
        return dict(items.evaluate_all(pairs))

    def at(self, selector, x, y):
        """A place counted from the element's upper left, in the window."""
        element = self.one(selector)
        element.scroll_into_view_if_needed()
        box = element.bounding_box()
        return box["x"] + x, box["y"] + y

    def click(self, selector, x, y):
        self.page.mouse.click(*self.at(selector, x, y))

    def disc(self, label):
        """Where the graph draws a label: the map fills the canvas but for margins."""
        box = self.one("#graph-canvas").bounding_box()
        width, height = box["width"], box["height"]
        x, y = self.fact("places")[label]
        side = min(84, 0.14 * width)
        x = width / 2 + x * (width / 2 - side)
        return x, height / 2 + y * (height / 2 - 44)

    def pixels(self, selector="#graph-canvas"):
        """What is drawn there, once it is drawn, as an array of red, green, blue."""
        encoded = self.run(PIXELS, selector)
        width, height = encoded["size"]
        drawn = np.frombuffer(base64.b64decode(encoded["bytes"]), dtype=np.uint8)
        return drawn.reshape(height, width, 4).astype(int)

    def fact(self, name):
        """One of the facts that the page holds."""
        script = (
            "name => JSON.parse(document.getElementById('facts').textContent)[name]"
        )
        return self.run(script, name)


def written(directory, n_labels, names, **fit):
    X, Y = some_rows(n_labels)
    model = HOMI(**fit).fit(X[:300], Y[:300])
    path = explain(
        model,
        directory / f"labels-{n_labels}.html",
        X[:300],
        Y[:300],
        X_test=X[300:],
        y_test=Y[300:],
        label_names=names,
        title="<i>Six</i> & more",
    )
    return Written(model, path, names)


def extremes(values, label, sign, most=6):
    """The strongest entries of one sign, strongest first."""
    found = {i: v for i, v in enumerate(values) if i != label and v * sign > 0}
    return dict(sorted(found.items(), key=lambda item: -abs(item[1]))[:most])
