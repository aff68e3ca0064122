import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { RunsPage } from "../features/runs/RunsPage";
import { StartPage } from "../features/threads/StartPage";
import { ThreadPage } from "../features/threads/ThreadPage";
import { Broken, NotFound, Shell } from "./Shell";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const routes = [
  createRoute({ getParentRoute: () => root, path: "/", component: StartPage }),
  createRoute({ getParentRoute: () => root, path: "/threads/$threadId", component: ThreadPage }),
  createRoute({
    getParentRoute: () => root,
    path: "/runs",
    component: RunsPage,
    validateSearch: (given: Record<string, unknown>): { state?: string; task?: string } => ({
      state: typeof given.state === "string" ? given.state : undefined,
      task: typeof given.task === "string" ? given.task : undefined,
    }),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/runs/$runId",
    component: lazyRouteComponent(() => import("../features/runs/RunPage"), "RunPage"),
    validateSearch: (given: Record<string, unknown>): { seq?: number; tab?: string } => ({
      seq: typeof given.seq === "number" ? given.seq : undefined,
      tab: typeof given.tab === "string" ? given.tab : undefined,
    }),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/compare/$left/$right",
    component: lazyRouteComponent(() => import("../features/runs/ComparePage"), "ComparePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/background-tasks",
    component: lazyRouteComponent(() => import("../features/tasks/DeadLettersPage"), "DeadLettersPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/stats",
    component: lazyRouteComponent(() => import("../features/stats/StatsPage"), "StatsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/shadow",
    component: lazyRouteComponent(() => import("../features/shadow/ShadowPage"), "ShadowPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/memory",
    component: lazyRouteComponent(() => import("../features/memory/MemoryPage"), "MemoryPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings",
    component: lazyRouteComponent(() => import("../features/settings/SettingsPage"), "SettingsPage"),
  }),
];

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: "intent",
  defaultErrorComponent: Broken,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
