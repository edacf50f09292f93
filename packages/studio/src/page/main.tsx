/** The page starts here. */
import { render } from "preact";
import { Frame } from "./frame.tsx";
import { followAddress } from "./router.ts";
import { answerSiblings } from "./session.ts";
import { followConfirmations } from "./state/confirmations.ts";
import { followFeed } from "./state/feed.ts";
import { followTheme } from "./state/theme.ts";
import { followVisibility } from "./state/visibility.ts";
import "../styles/tokens.css";
import "../styles/base.css";

followTheme();
followAddress();
followVisibility();
answerSiblings();
followFeed();
followConfirmations();
render(<Frame />, document.getElementById("app") as HTMLElement);
