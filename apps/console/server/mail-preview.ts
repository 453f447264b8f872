import { createHash } from 'node:crypto';

/**
 * Takes a mail from the page around it and shows it in a frame of its own, which may not even run a script.
 *
 * A `preconnect` opens a connection without any policy being asked, so links to resources go before. What is shown is the
 * very text in which none was found: markup that means something else once it is written out again shows nothing.
 * Links to follow open a window, which the frame may not: a click changes nothing.
 */
const SCRIPT = `
  const head = (scheme) => '<!doctype html><meta name="color-scheme" content="' + scheme + '"><base target="_blank">';
  const ASKING = 'link, meta[http-equiv], template';
  const ROUNDS = 4;
  const harmless = (html) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const mail = new DOMParser().parseFromString(html, 'text/html');
      const asking = mail.querySelectorAll(ASKING);
      if (asking.length === 0) return html;
      for (const element of asking) element.remove();
      html = '<!doctype html>' + mail.documentElement.outerHTML;
    }
    return '';
  };
  addEventListener('message', ({ data, origin, source }) => {
    if (source !== parent || origin !== location.origin) return;
    const frame = document.createElement('iframe');
    frame.sandbox = '';
    frame.title = data.title;
    frame.srcdoc = harmless(head(data.scheme === 'dark' ? 'dark' : 'light') + data.html);
    document.body.replaceChildren(frame);
  });
`;

/** The document that mails are shown in. */
export const MAIL_PREVIEW = Buffer.from(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="color-scheme" content="light">
    <title>Mail</title>
    <style>html, body, iframe { margin: 0; border: 0; width: 100%; height: 100%; display: block }</style>
    <script>${SCRIPT}</script>
  </head>
  <body></body>
</html>
`);

const hash = createHash('sha256').update(SCRIPT).digest('base64');

/**
 * A document without an address of its own (`srcdoc`, `blob:`, `data:`) is bound by the policy of the page around it as
 * well, and mails carry their styles in themselves: hence one with an address, whose policy allows these and nothing else.
 * It is not of the Console's origin.
 */
export const MAIL_PREVIEW_POLICY: readonly string[] = [
  "default-src 'none'",
  `script-src 'sha256-${hash}'`,
  "style-src 'unsafe-inline'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  'sandbox allow-scripts',
];
