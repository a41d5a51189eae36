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
  const step = Math.max(300, Math.ceil(total / 10));
  let [frame, top, done, copies] = [null, null, 0, []];

  const backTo = (copy) => {
    top.context.globalCompositeOperation = "source-over";
    top.context.clearRect(0, 0, frame.width, frame.height);
    if (copy > 0) lay(top.context, copies[copy - 1], frame);
    done = copy * step;
  };
  const keep = () => {
    const copy = sheet(frame);
    lay(copy.context, top, frame);
    copies.push(copy);
  };
  return {
    clear: (newFrame) => {
      [frame, top, done, copies] = [newFrame, sheet(newFrame), 0, []];
    },
    // A step nearer to so many; whether they are all there.
    advance: (wanted) => {
      if (wanted < done) backTo(Math.floor(wanted / step));
      const end = Math.min(wanted, done + step);
      // What comes later goes under what is there.
      top.context.globalCompositeOperation = "destination-over";
      while (done < end) {
        paint(top.context, done);
        done++;
        if (done === (copies.length + 1) * step) keep();
      }
      return done === wanted;
    },
    lay: (context, opacity) => lay(context, top, frame, opacity),
  };
};
