import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.webkit.network.CookieManager;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.CookieHandler;
import java.net.URI;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javafx.application.Platform;
import javafx.concurrent.Worker;
import javafx.scene.Scene;
import javafx.scene.web.WebEngine;
import javafx.scene.web.WebView;
import javafx.stage.Stage;

/**
 * A browser that is told by lines what to do: the number of a tab, a verb, and what it needs in Base64. `open` an address,
 * `run` a script, go `back`, `forget` all tabs and cookies. It tells by such lines what each tab has `loaded` (address and
 * page), and that something has `failed`. It ends with its input.
 */
public final class WebKit {
  private static final PrintStream OUT = new PrintStream(System.out, true, UTF_8);
  private static final Map<String, Stage> TABS = new HashMap<>();

  public static void main(String[] arguments) throws IOException {
    System.setProperty("glass.platform", "Monocle");
    System.setProperty("monocle.platform", "Headless");
    System.setProperty("prism.order", "sw");
    Cookies cookies = new Cookies();
    CookieHandler.setDefault(cookies);
    Platform.setImplicitExit(false);
    Platform.startup(() -> {});
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      String[] words = line.split(" ");
      String text = words.length < 3 ? "" : new String(Base64.getDecoder().decode(words[2]), UTF_8);
      Platform.runLater(() -> obey(words[0], words[1], text, cookies));
    }
    System.exit(0);
  }

  private static void obey(String tab, String verb, String text, Cookies cookies) {
    try {
      switch (verb) {
        case "open" -> engine(tab).load(text);
        case "run" -> engine(tab).executeScript(text);
        case "back" -> engine(tab).getHistory().go(-1);
        case "forget" -> {
          TABS.values().forEach(Stage::close);
          TABS.clear();
          cookies.kept = new CookieManager();
        }
        default -> throw new IllegalArgumentException("There is no verb " + verb);
      }
    } catch (RuntimeException failure) {
      tell(tab, "failed", verb + ": " + failure);
    }
  }

  private static WebEngine engine(String tab) {
    Stage stage = TABS.computeIfAbsent(tab, WebKit::opened);
    return ((WebView) stage.getScene().getRoot()).getEngine();
  }

  private static Stage opened(String tab) {
    WebView view = new WebView();
    WebEngine engine = view.getEngine();
    engine.getLoadWorker().stateProperty().addListener((state, before, now) -> {
      if (now == Worker.State.SUCCEEDED)
        tell(tab, "loaded", engine.getLocation() + "\n" + engine.executeScript("document.documentElement.outerHTML"));
    });
    Stage stage = new Stage();
    stage.setScene(new Scene(view, 400, 700));
    stage.show();
    return stage;
  }

  private static void tell(String tab, String what, String text) {
    OUT.println(tab + " " + what + " " + Base64.getEncoder().encodeToString(text.getBytes(UTF_8)));
  }

  /** WebKit asks once for where cookies are kept; each browser has its own. */
  private static final class Cookies extends CookieHandler {
    private volatile CookieManager kept = new CookieManager();

    @Override
    public Map<String, List<String>> get(URI address, Map<String, List<String>> headers) throws IOException {
      return kept.get(address, headers);
    }

    @Override
    public void put(URI address, Map<String, List<String>> headers) throws IOException {
      kept.put(address, headers);
    }
  }
}
