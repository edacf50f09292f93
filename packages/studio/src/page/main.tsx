/** The page starts here. Styles come first: they fix the order of the layers. */
import "../styles/tokens.css";
import "../styles/base.css";
import { render } from "preact";
import { Frame } from "./frame.tsx";
import { followAddress } from "./router.ts";
import { answerSiblings } from "./session.ts";
import { followConfirmations } from "./state/confirmations.ts";
import { followFeed } from "./state/feed.ts";
import { followFocus } from "./state/focus.ts";
import { followMeta, leave } from "./state/meta.ts";
import { followTheme } from "./state/theme.ts";
import { followVisibility } from "./state/visibility.ts";

followTheme();
followAddress();
followVisibility();
followFocus();
answerSiblings(leave);
followMeta();
followFeed();
followConfirmations();
render(<Frame />, document.getElementById("app") as HTMLElement);
