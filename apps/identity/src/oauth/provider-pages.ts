import { Injectable } from '@nestjs/common';
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';

/** The pages that the provider itself shows. They say nothing but what the protocol says, and need no script. */
@Injectable()
export class ProviderPages {
  /** An authorization request that cannot be sent back to its client, told to whoever sees it. */
  error(ctx: KoaContextWithOIDC, { error, error_description: description }: ErrorOut): void {
    const said = description === undefined ? error : `${error}: ${description}`;
    show(ctx, 'Sign-in failed', `<h1>Sign-in failed</h1><p>${escaped(said)}</p>`);
  }

  /** Asks whether to sign out; `form` is the provider's own, with its proof against forgery. */
  signOut(ctx: KoaContextWithOIDC, form: string): void {
    const buttons =
      '<button autofocus type="submit" form="op.logoutForm" value="yes" name="logout">Sign out</button> ' +
      '<button type="submit" form="op.logoutForm">Stay signed in</button>';
    show(ctx, 'Sign out', `<h1>Sign out?</h1>${form}<p>${buttons}</p>`);
  }

  /** That one has signed out, where the client has named no page of its own. */
  signedOut(ctx: KoaContextWithOIDC): void {
    show(ctx, 'Signed out', '<h1>Signed out</h1><p>You can close this page.</p>');
  }
}

function show(ctx: KoaContextWithOIDC, title: string, body: string): void {
  ctx.type = 'html';
  ctx.body =
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>` +
    `<meta name="viewport" content="width=device-width, initial-scale=1"></head><body><main>${body}</main></body></html>`;
}

function escaped(text: string): string {
  const names: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replaceAll(/[&<>"']/g, (character) => names[character] ?? character);
}
