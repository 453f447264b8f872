import { Menu } from '@base-ui/react/menu';
import { useNavigate } from '@tanstack/react-router';
import { Check } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { usePerson, useSession } from '../session/use-session.tsx';
import { leave } from '../ui/leaving.ts';
import { ACCOUNT_BUTTON, AccountFace } from './account-face.tsx';
import { chooseTheme, chosenTheme, THEMES } from './theme.ts';
import { useSwitch } from './use-switch.ts';

const ITEM =
  'flex min-h-9 cursor-default items-center gap-2 rounded-control px-2.5 outline-none data-highlighted:bg-hover';

/** The menu of the person, open as soon as it is there: to switch, to sign out, to make it lighter or darker. */
export function Account(): ReactNode {
  const t = useTranslations('shell');
  const session = useSession();
  const person = usePerson();
  const [theme, setTheme] = useState(chosenTheme);
  const switchTo = useSwitch();
  const navigate = useNavigate();
  const params = { organization: person.organization.slug };
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger className={ACCOUNT_BUTTON}>
        <AccountFace />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="start" sideOffset={4} className="z-60">
          <Menu.Popup className="max-h-[70vh] w-64 overflow-y-auto rounded-panel border border-line bg-raised p-1 shadow-xl outline-none">
            <Menu.Group>
              <Menu.GroupLabel className="px-2.5 py-1 text-xs text-soft">
                {t('organizations')}
              </Menu.GroupLabel>
              {person.organizations.map(({ id, name, slug }) => (
                <Menu.Item key={id} className={ITEM} onClick={() => void switchTo(slug)}>
                  <span className="grow truncate">{name}</span>
                  {id === person.organization.id && <Check aria-label={t('thisOne')} className="size-4" />}
                </Menu.Item>
              ))}
            </Menu.Group>
            <Menu.Separator className="my-1 border-t border-line" />
            <Menu.RadioGroup
              value={theme}
              onValueChange={(value) => {
                const next = THEMES.find((each) => each === value) ?? 'system';
                chooseTheme(next);
                setTheme(next);
              }}
            >
              {THEMES.map((each) => (
                <Menu.RadioItem key={each} value={each} className={ITEM} closeOnClick={false}>
                  <span className="grow">{t(`theme.${each}`)}</span>
                  <Menu.RadioItemIndicator>
                    <Check aria-hidden className="size-4" />
                  </Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.Separator className="my-1 border-t border-line" />
            {person.restriction === null && (
              <Menu.Item
                className={ITEM}
                onClick={() => void navigate({ to: '/o/$organization/account', params })}
              >
                {t('account')}
              </Menu.Item>
            )}
            <Menu.Item className={ITEM} onClick={() => leave(document, () => void session.signOut())}>
              {t('signOut')}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
