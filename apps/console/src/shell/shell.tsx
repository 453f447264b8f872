import { Link, Outlet, useLocation, useParams } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { useEffect, useState, type ComponentType, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../session/use-session.tsx';
import { IconButton } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { AccountButton } from './account-button.tsx';
import { Coming, FootFailure, lateComponent, LazyPart } from '../ui/lazy-part.tsx';
import { menuFor } from './menu.ts';
import { useKeys } from './use-keys.ts';

// What only a few presses need comes after the first screen.
const CommandPalette = lateComponent(
  async () => (await import('../navigation/command-palette.tsx')).CommandPalette,
);
const around = () => import('../navigation/around-pages.tsx');
const AroundPages = lateComponent(async () => (await around()).AroundPages);
const SubPages = lateComponent(async () => (await around()).SubPages);
const Breadcrumbs = lateComponent(async () => (await around()).Breadcrumbs);

/** Milliseconds after the frame when what is around pages is loaded: the page and its data go before it. */
const AROUND_AFTER_MS = 400;
/** The height of one of the pages below an open one. */
const PART_REM = 1.75;

/** What is around every page: the menu, the search, who one is. */
export function Shell(): ReactNode {
  const t = useTranslations('shell');
  const [menu, setMenu] = useState(false);
  const [palette, setPalette] = useState(false);
  const [later, setLater] = useState(false);
  const isBelow = usePath().length > 1;
  useKeys({ palette: () => setPalette(true) });
  useEffect(() => {
    const timer = setTimeout(() => setLater(true), AROUND_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="flex h-full flex-col md:flex-row">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-raised focus:p-3"
      >
        {t('skip')}
      </a>
      <header className="flex items-center gap-2 border-b border-line px-2 py-1.5 md:hidden">
        <IconButton label={t('openMenu')} onClick={() => setMenu(true)}>
          <MenuIcon aria-hidden className="size-5" />
        </IconButton>
        <span className="grow font-semibold">{t('product')}</span>
        <IconButton label={t('search')} onClick={() => setPalette(true)}>
          <Search aria-hidden className="size-5" />
        </IconButton>
      </header>
      <div className="hidden w-60 shrink-0 flex-col border-r border-line bg-ground md:flex">
        <Sidebar later={later} onSearch={() => setPalette(true)} />
      </div>
      <Dialog open={menu} onClose={() => setMenu(false)} title={t('menuTitle')} place="side">
        <div onClick={(event) => (event.target as HTMLElement).closest('a') && setMenu(false)}>
          <Sidebar later={later} onSearch={() => (setMenu(false), setPalette(true))} />
        </div>
      </Dialog>
      <main id="content" tabIndex={-1} className="min-h-0 min-w-0 grow overflow-y-auto outline-none">
        {/* In the room above the title, which it has at a desk; nothing moves when it comes. */}
        {isBelow && (
          <div className="h-7 px-4 pt-2 md:-mb-5 md:px-8">{later && <Quiet of={Breadcrumbs} />}</div>
        )}
        <Outlet />
      </main>
      {later && <Quiet of={AroundPages} />}
      {palette && (
        <div className="fixed inset-x-0 bottom-0 z-40">
          <LazyPart fallback={<Coming />} failure={FootFailure}>
            <CommandPalette open onClose={() => setPalette(false)} />
          </LazyPart>
        </div>
      )}
    </div>
  );
}

/** Shows a part that a page can do without: where its file does not come, nothing stands in its place. */
function Quiet({ of: Part, room }: { of: ComponentType; room?: ReactNode }): ReactNode {
  return (
    <LazyPart fallback={room} failure={() => room}>
      <Part />
    </LazyPart>
  );
}

/** The address within the organization, part by part. */
function usePath(): string[] {
  return useLocation().pathname.split('/').slice(3).filter(Boolean);
}

interface SidebarProps {
  /** True once the first screen is there, and the rest may come. */
  later: boolean;
  onSearch: () => void;
}

function Sidebar({ later, onSearch }: SidebarProps): ReactNode {
  const t = useTranslations('shell');
  return (
    <div className="flex min-h-0 grow flex-col gap-3 p-3">
      <LazyPart>
        <AccountButton />
      </LazyPart>
      <button
        type="button"
        onClick={onSearch}
        className="control flex items-center gap-2 border border-edge bg-canvas px-2.5 text-soft hover:text-ink"
      >
        <Search aria-hidden className="size-4" />
        <span className="grow text-start">{t('search')}</span>
        <kbd className="font-sans text-xs">{isApple() ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <Navigation later={later} />
    </div>
  );
}

function Navigation({ later }: { later: boolean }): ReactNode {
  const t = useTranslations('shell');
  const may = useMay();
  const { organization = '' } = useParams({ strict: false });
  const [section = ''] = usePath();
  return (
    <nav aria-label={t('menuTitle')} className="min-h-0 grow overflow-y-auto">
      <ul className="flex flex-col gap-0.5">
        {menuFor(may).map(({ to, name, icon: Icon, parts }) => (
          <li key={to}>
            <Link
              to={to}
              params={{ organization }}
              activeOptions={{ exact: to === '/o/$organization', includeSearch: false }}
              className="control flex items-center gap-2.5 px-2.5 text-soft -outline-offset-2 hover:bg-hover hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent-strong"
            >
              <Icon aria-hidden className="size-4" />
              {t(`menu.${name}`)}
            </Link>
            {parts !== undefined && to === `/o/$organization/${section}` && (
              <Parts count={parts} later={later} />
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The pages below the one that is open; their room is kept until they come. */
function Parts({ count, later }: { count: number; later: boolean }): ReactNode {
  const room = <div style={{ height: `${count * PART_REM}rem` }} />;
  return <div className="py-1">{later ? <Quiet of={SubPages} room={room} /> : room}</div>;
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}
