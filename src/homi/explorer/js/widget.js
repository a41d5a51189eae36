// The page in a frame of a notebook; what is chosen there becomes traits of the widget.

const render = ({ model, el }) => {
  const frame = document.createElement("iframe");
  frame.title = "Label explorer";
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  Object.assign(frame.style, { width: "100%", height: "760px", border: "0" });
  frame.srcdoc = model.get("page");
  const listen = ({ source, data }) => {
    if (source !== frame.contentWindow || !data?.homi) return;
    for (const name of ["label", "row", "decisions"]) model.set(name, data.homi[name]);
    model.save_changes();
  };
  window.addEventListener("message", listen);
  el.append(frame);
  return () => window.removeEventListener("message", listen);
};

export default { render };
