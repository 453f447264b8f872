import { inScheme } from './mail-scheme.ts';

describe('inScheme', () => {
  const html =
    '<style>@media (prefers-color-scheme: dark) { a {} } @media ( Prefers-Color-Scheme:LIGHT ) { b {} }</style>';

  it('answers what a mail asks of its reader’s scheme', () => {
    expect(inScheme(html, 'dark')).toBe(
      '<style>@media (min-width: 0) { a {} } @media (max-width: 0) { b {} }</style>',
    );
    expect(inScheme(html, 'light')).toBe(
      '<style>@media (max-width: 0) { a {} } @media (min-width: 0) { b {} }</style>',
    );
  });

  it('leaves a mail alone that asks nothing', () => {
    expect(inScheme('<p>prefers-color-scheme: dark</p>', 'dark')).toBe('<p>prefers-color-scheme: dark</p>');
  });
});
