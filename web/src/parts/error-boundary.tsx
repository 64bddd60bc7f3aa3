/** One entry that cannot be shown must not take the page with it. */
import { Component, type ReactNode } from "react";

interface Props {
  children: ReactNode;
  /** What is shown instead. */
  instead: string;
}

export class ErrorBoundary extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? <p className="mark">{this.props.instead}</p> : this.props.children;
  }
}
