import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Refused } from "./api/client";
import { noticeSignedOut, sessionQuery } from "./api/session";
import "./app/page.css";
import { router } from "./app/router";
import { applyPreferences } from "./app/theme";

applyPreferences();

const client = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (query.queryKey[0] !== "session") noticeSignedOut(client, error);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      retry: (failures, error) => failures < 2 && error instanceof Refused && error.problem.status >= 500,
    },
  },
});

void client.prefetchQuery(sessionQuery);

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
