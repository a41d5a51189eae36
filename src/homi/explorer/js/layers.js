// Drawings that are kept, so that a click draws only what it changes.

// An empty drawing as large as a frame, in the same units.
const sheet = ({ width, height, ratio }) => {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { canvas, context };
};

const lay = (context, { canvas }, { width, height }, opacity = 1) => {
  context.globalAlpha = opacity;
  context.drawImage(canvas, 0, 0, width, height);
  context.globalAlpha = 1;
};

// Many things, the first on top, of which more or fewer are wanted: some in each frame,
// and on the way copies to come back to. `paint` draws the k-th onto a context.
const pile = (total, paint) => {
  const step = Math.max(500, Math.ceil(total / 6));
  let [frame, top, done, copies] = [null, null, 0, []];

  const backTo = (copy) => {
    top = sheet(frame);
    if (copy > 0) lay(top.context, copies[copy - 1], frame);
    done = copy * step;
  };
  const keep = () => {
    const copy = sheet(frame);
    lay(copy.context, top, frame);
    copies.push(copy);
  };
  // Drawn in the usual order, the last first, and put under what is there at once: to
  // put each of them under it by itself takes twice as long.
  const addUntil = (end) => {
    const below = sheet(frame);
    for (let k = end - 1; k >= done; k--) paint(below.context, k);
    top.context.globalCompositeOperation = "destination-over";
    lay(top.context, below, frame);
    top.context.globalCompositeOperation = "source-over";
    done = end;
  };
  return {
    clear: (newFrame) => {
      [frame, top, done, copies] = [newFrame, sheet(newFrame), 0, []];
    },
    // A step nearer to so many; whether they are all there.
    advance: (wanted) => {
      if (wanted < done) backTo(Math.floor(wanted / step));
      const end = Math.min(wanted, (Math.floor(done / step) + 1) * step);
      if (end > done) addUntil(end);
      if (done === (copies.length + 1) * step) keep();
      return done === wanted;
    },
    lay: (context, opacity) => lay(context, top, frame, opacity),
  };
};
