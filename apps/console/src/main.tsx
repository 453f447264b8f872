import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client.ts';
import { router } from './router.tsx';
import { Gate } from './shell/gate.tsx';
import { Session } from './session/session.ts';
import { SessionProvider } from './session/use-session.tsx';
import { watchFiles } from './ui/missing-files.ts';
import { applyTheme } from './shell/theme.ts';
import './ui/theme.css';

applyTheme();
watchFiles(window);

// A page that the browser kept whole shows what was there before one signed out: it begins anew.
window.addEventListener('pageshow', ({ persisted }) => persisted && window.location.reload());

// Until something is drawn the page shows what index.html has for that.
const session = new Session();
const root = createRoot(document.getElementById('root') as HTMLElement);
const goOn = await session.start(window.location);
// Never with two slashes, which would name a host.
if (goOn !== undefined) await router.navigate({ href: goOn.replace(/^\/console\/*/, '/'), replace: true });

root.render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <SessionProvider session={session}>
        <Gate>
          <RouterProvider router={router} />
        </Gate>
      </SessionProvider>
    </QueryClientProvider>
  </StrictMode>,
);
