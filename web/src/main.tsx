import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { readPlace } from "./address.ts";
import { App } from "./app.tsx";
import { createController } from "./controller/controller.ts";
import { PageContext } from "./page-context.ts";
import { initialState } from "./state/state.ts";
import { createStore } from "./state/store.ts";
import "./styles/index.css";

const store = createStore(initialState(readPlace()));
const controller = createController(store);
controller.start();

const root = document.querySelector("#root");
if (root === null) throw new Error("There is no #root element");
createRoot(root).render(
  <StrictMode>
    <PageContext value={{ store, controller }}>
      <App />
    </PageContext>
  </StrictMode>,
);
